// The renderer's card in the elements that satori and takumi have in common. Everything stands where the browser puts it, so
// that they need no layout but that of single lines; the texts are made already, nothing is cut short, and no script but
// Latin is provided for: all of that is less work than the renderer's.
const ink = '#f1f5f8', soft = '#a3b3c1', faint = '#788b9c', up = '#45ecc0', ground = '#0c141b', deck = '#131e27';

// Each text with where its line begins, and the line's height.
const texts = [
  ['WIF', 180, 35, 66, 'Inter Display', 62, -1.24, ink],
  ['dogwifhat', 180, 102, 34, 'Inter', 26, -0.288, soft],
  ['·', 317.02, 102, 34, 'Inter', 26, -0.288, faint],
  ['Solana', 338.09, 102, 34, 'Inter', 26, -0.288, soft],
  ['·', 434.36, 102, 34, 'Inter', 26, -0.288, faint],
  ['EKpQ…zcjm', 455.44, 102, 34, 'Inter', 26, -0.288, soft],
  ['Boardwalk', 1003.34, 40, 36, 'Inter Display', 30, -0.3, ink],
  ['Price', 56, 166, 32, 'Inter', 24, -0.288, soft],
  ['22 Nov 2025, 14:05 UTC', 126.83, 166, 32, 'Inter', 24, -0.288, faint],
  ['$2.419', 56, 202, 112, 'Inter Display', 126, -3.78, ink],
  ['Last 24 h', 739.7, 166, 32, 'Inter', 24, -0.288, soft],
  ['+12.4\u202f%', 798.25, 213, 112, 'Inter Display', 96, -2.88, up],
  ['Liquidity', 56, 527, 32, 'Inter', 22, -0.288, soft],
  ['14 pools', 157.33, 527, 32, 'Inter', 22, -0.288, faint],
  ['$8.41M', 56, 559, 52, 'Inter Display', 36, -0.288, ink],
  ['Volume, 24 h', 392.88, 527, 32, 'Inter', 22, -0.288, soft],
  ['$146M', 392.88, 559, 52, 'Inter Display', 36, -0.288, ink],
  ['Market cap', 676.19, 527, 32, 'Inter', 22, -0.288, soft],
  ['$2.42B', 676.19, 559, 52, 'Inter Display', 36, -0.288, ink],
  ['Members in it', 945.94, 527, 32, 'Inter', 22, -0.288, soft],
  ['37', 1099.94, 559, 52, 'Inter Display', 36, -0.288, ink],
];
const tabular = new Set(['$2.419', '+12.4\u202f%', '$8.41M', '$146M', '$2.42B', '37']);

const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="34" height="34">
<path fill="#63c5d6" d="M3 12h4v6H3zM10 7h4v11h-4zM17 2h4v16h-4z"/><path fill="#efcf9a" d="M1 20.5h22v2.5H1z"/></svg>`;
const arrow = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" width="44" height="44"><path fill="${up}" d="M5 1 10 9.5H0z"/></svg>`;

const drawn = ({ planks, gaps, level, line, dotX, dotY }) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1088 168" width="1088" height="168">
<path fill="#0e4b48" d="${planks}"/><path fill="${ground}" d="${gaps}"/>
<path fill="none" stroke="${faint}" stroke-width="2" stroke-dasharray="2 8" d="${level}"/>
<path fill="none" stroke="${up}" stroke-width="5" stroke-linejoin="round" stroke-linecap="round" d="${line}"/>
<circle fill="${up}" stroke="${ground}" stroke-width="5" cx="${dotX}" cy="${dotY}" r="9"/></svg>`;

const at = (left, top, width, height) => ({ position: 'absolute', left, top, width, height });

// card makes the whole card anew, as it would be for other data. make has a function for each kind of element.
export function card(make, { pictures, chart }) {
  return make.box({ ...at(0, 0, 1200, 630), backgroundColor: ground }, [
    make.picture(pictures[0], { ...at(56, 38, 96, 96), borderRadius: 48 }),
    make.drawing(mark, at(957.34, 41, 34, 34)),
    make.drawing(arrow, at(739.7, 258.84, 44.16, 44.16)),
    make.drawing(drawn(chart), at(56, 338, 1088, 168)),
    make.box({ ...at(0, 506, 1200, 124), backgroundColor: deck }),
    make.box({ ...at(0, 506, 1200, 5), backgroundColor: '#efcf9a' }),
    ...pictures.slice(1).map((face, i) =>
      make.box({ ...at(945.94 + 32 * i, 563, 44, 44), borderRadius: 22, backgroundColor: deck }, [
        make.picture(face, { ...at(3, 3, 38, 38), borderRadius: 19 }),
      ])),
    ...texts.map(([text, left, top, lineHeight, fontFamily, fontSize, letterSpacing, color]) =>
      make.text(text, {
        position: 'absolute', left, top, height: lineHeight, lineHeight: `${lineHeight}px`, fontFamily, fontSize, letterSpacing, color,
        fontWeight: fontFamily === 'Inter' ? 500 : 700, fontFeatureSettings: tabular.has(text) ? '"tnum"' : '"calt" 0',
      })),
  ]);
}
