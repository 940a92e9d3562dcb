'use strict';

// Both scripts are deferred: the document is there, and the viewer's bundle ran before.
const root = document.getElementById('reference');

// Every response has much the same headers: they stay folded until they are asked for.
const foldedHeaders = ({React}) => ({
  wrapComponents: {
    headers: (Headers) => (props) => React.createElement(
      'details', {className: 'folded'},
      React.createElement('summary', null, 'Headers'),
      React.createElement(Headers, props),
    ),
  },
});

// read answers with the JSON at an address of this server, or null where there is none.
const read = (address) => fetch(address).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);

// fill gives a parameter the example that the viewer fills its field in with: what a request must have gets a token of this
// deployment, and everything else stays empty.
function fill({example, ...parameter}, {mint, chain, symbol}, hasMint) {
  const needed = parameter.required || (parameter.name === 'chain' && hasMint);
  const there = {mint, mint_address: mint, chain, mints: [`${chain}:${mint}`], q: symbol}[parameter.name];
  return needed && mint && there ? {...parameter, example: there} : parameter;
}

// prepare puts each operation's limit into its description, and examples of this deployment into its parameters.
function prepare(doc, token, launch) {
  for (const [path, item] of Object.entries(doc.paths)) {
    const operation = item.get;
    const limit = operation['x-rate-limit'];
    if (limit) {
      operation.description =
        `${operation.description ?? ''}\n\n**Limit:** ${limit.requests} requests in any ${limit.window_s} seconds.`;
    }
    const subject = path.includes('/launch/') ? launch : token;
    const resolved = (operation.parameters ?? []).map((p) => (p.$ref ? doc.components.parameters[p.$ref.split('/').pop()] : p));
    const hasMint = resolved.some((p) => p.name === 'mint' || p.name === 'mint_address');
    operation.parameters = resolved.map((p) => fill(p, subject, hasMint));
  }
  return doc;
}

(async () => {
  const [doc, live, board] = await Promise.all([
    read(root.dataset.document), read('/api/market/live?per_chain=1'), read('/api/launch/launches?sort=new&limit=1'),
  ]);
  const token = live?.tokens?.[0] ?? {};
  const launch = board?.launches?.[0] ?? {};
  SwaggerUIBundle({
    domNode: root,
    // Where the document can't be prepared, the viewer reads it itself and says what is wrong.
    ...(doc?.paths ? {spec: prepare(doc, token, launch)} : {url: root.dataset.document}),
    layout: 'BaseLayout',
    plugins: [foldedHeaders],
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 2,
    displayRequestDuration: true,
    showCommonExtensions: true,
    supportedSubmitMethods: ['get', 'head'],
    // The viewer would send the document's address to a validator of another origin.
    validatorUrl: null,
    withCredentials: false,
  });
})();
