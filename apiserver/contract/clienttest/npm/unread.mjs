// Prints how many members the generated types have, and which of them client.ts doesn't read, so that it would compile
// without them. Runs where tsconfig.json, api.d.ts and client.ts are.
import ts from 'typescript';

const config = ts.parseJsonConfigFileContent(ts.readConfigFile('tsconfig.json', ts.sys.readFile).config, ts.sys, '.');
const program = ts.createProgram(config.fileNames, config.options);
const checker = program.getTypeChecker();

/** Declarations of the members that an expression below `node` reads. */
function* reads(node) {
  const name = ts.isPropertyAccessExpression(node) ? node.name : ts.isElementAccessExpression(node) && node.argumentExpression;
  const symbol = name && checker.getSymbolAtLocation(name);
  // A member of a union or an intersection is one of each of its types.
  for (const root of symbol ? checker.getRootSymbols(symbol) : []) {
    yield* root.declarations ?? [];
  }
  for (const child of children(node)) {
    yield* reads(child);
  }
}

/** Declarations of the members below `node`, with their paths. */
function* members(node, path) {
  for (const child of children(node)) {
    if (!ts.isPropertySignature(child)) {
      yield* members(child, path);
      continue;
    }
    const below = [...path, child.name.text];
    yield [child, below.join(' ')];
    yield* members(child.type, below);
  }
}

function children(node) {
  const found = [];
  node.forEachChild((child) => void found.push(child));
  return found;
}

/** The members of the schemas, and of what is written into a 200 answer without being a schema. */
const answers = /^components schemas \S+ .|^operations \S+ responses 200 content application\/json ./;

const read = new Set(reads(program.getSourceFile('client.ts')));
const unread = [];
let total = 0;
for (const shape of program.getSourceFile('api.d.ts').statements) {
  for (const [declaration, path] of members(shape, [shape.name.text])) {
    if (!answers.test(path)) {
      continue;
    }
    total++;
    if (!read.has(declaration)) {
      unread.push(path);
    }
  }
}
process.stdout.write(JSON.stringify({ total, unread }));
