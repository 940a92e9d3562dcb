// node unfurl.cjs <address>: reads a page as an unfurler does, with the npm package open-graph-scraper, and prints what it found.
'use strict';
const scrape = require('open-graph-scraper');

const [url] = process.argv.slice(2);

// Test servers have addresses without a top-level domain, which the package takes for mistakes.
const urlValidatorSettings = {
  allow_fragments: true,
  allow_protocol_relative_urls: false,
  allow_query_components: true,
  allow_trailing_dot: false,
  allow_underscores: false,
  protocols: ['http'],
  require_host: true,
  require_port: false,
  require_protocol: true,
  require_tld: false,
  require_valid_protocol: true,
  validate_length: true,
};

scrape({ url, urlValidatorSettings }).then(
  ({ result }) => process.stdout.write(JSON.stringify(result)),
  ({ result }) => {
    process.stderr.write(`open-graph-scraper: ${result.error}\n`);
    process.exitCode = 1;
  },
);
