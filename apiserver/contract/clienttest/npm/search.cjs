// node search.cjs <base URL> <query>: searches with the npm client dexscreener-api and prints what it returns, as JSON.
'use strict';
const client = require('dexscreener-api');

const [base, query] = process.argv.slice(2);

// The client has no option for the address of the service, but reads this property of its module at every call.
client.baseUri = `${base}/api/dexscreener/`;

// It writes the query into the address as it is.
client.searchPairsMatchingQuery(encodeURIComponent(query)).then(
  (answer) => process.stdout.write(JSON.stringify(answer)),
  (error) => {
    process.stderr.write(`dexscreener-api: ${error.message}\n`);
    process.exitCode = 1;
  },
);
