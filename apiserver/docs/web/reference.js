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

SwaggerUIBundle({
  domNode: root,
  url: root.dataset.document,
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
