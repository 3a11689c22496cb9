/** Built from api/console/page/style.css by tools/generate_console.ts; do not edit. */
export const text =
  ".uplot,.uplot *,.uplot *:before,.uplot *:after{box-sizing:border-box}.uplot{font-family:system-ui,-apple-syste" +
  "m,Segoe UI,Roboto,Helvetica Neue,Arial,Noto Sans,sans-serif,\"Apple Color Emoji\",\"Segoe UI Emoji\",Segoe UI Symb" +
  "ol,\"Noto Color Emoji\";line-height:1.5;width:min-content}.u-title{text-align:center;font-size:18px;font-weight:" +
  "700}.u-wrap{position:relative;user-select:none}.u-over,.u-under{position:absolute}.u-under{overflow:hidden}.up" +
  "lot canvas{display:block;position:relative;width:100%;height:100%}.u-axis{position:absolute}.u-legend{font-siz" +
  "e:14px;margin:auto;text-align:center}.u-inline{display:block}.u-inline *{display:inline-block}.u-inline tr{mar" +
  "gin-right:16px}.u-legend th{font-weight:600}.u-legend th>*{vertical-align:middle;display:inline-block}.u-legen" +
  "d .u-marker{width:1em;height:1em;margin-right:4px;background-clip:padding-box!important}.u-inline.u-live th:af" +
  "ter{content:\":\";vertical-align:middle}.u-inline:not(.u-live) .u-value{display:none}.u-series>*{padding:4px}.u-" +
  "series th{cursor:pointer}.u-legend .u-off>*{opacity:.3}.u-select{background:#00000012;position:absolute;pointe" +
  "r-events:none}.u-cursor-x,.u-cursor-y{position:absolute;left:0;top:0;pointer-events:none;will-change:transform" +
  "}.u-hz .u-cursor-x,.u-vt .u-cursor-y{height:100%;border-right:1px dashed #607D8B}.u-hz .u-cursor-y,.u-vt .u-cu" +
  "rsor-x{width:100%;border-bottom:1px dashed #607D8B}.u-cursor-pt{position:absolute;top:0;left:0;border-radius:5" +
  "0%;border:0 solid;pointer-events:none;will-change:transform;background-clip:padding-box!important}.u-axis.u-of" +
  "f,.u-select.u-off,.u-cursor-x.u-off,.u-cursor-y.u-off,.u-cursor-pt.u-off{display:none}:root{color-scheme:light" +
  " dark;--page: #f6f7f9;--card: #ffffff;--text: #14181f;--quiet: #525c6b;--line: #d5dae1;--border: #79838f;--acc" +
  "ent: #1d5fbf;--on-accent: #ffffff;--good: #12693d;--bad: #b3261e;--bad-ground: #fdecea;--real: #0f766e;--cover" +
  ": #7c5cc4}@media(prefers-color-scheme:dark){:root{--page: #0f1319;--card: #181e27;--text: #e8ecf2;--quiet: #a7" +
  "b1c0;--line: #2f3947;--border: #76839a;--accent: #7db0ff;--on-accent: #0b1526;--good: #6fd39a;--bad: #ff9a92;-" +
  "-bad-ground: #3a1a1a;--real: #4fd1c0;--cover: #b79cff}}*{box-sizing:border-box}html{font:100%/1.5 system-ui,sa" +
  "ns-serif;background:var(--page);color:var(--text)}body{margin:0}h1{font-size:1.6rem;line-height:1.2;margin:1re" +
  "m 0}h2{font-size:1.15rem;line-height:1.3;margin:0 0 .75rem}p{margin:.5rem 0}a{color:var(--accent)}main{max-wid" +
  "th:64rem;margin:0 auto;padding:0 1rem 4rem;outline:none}main.alone{max-width:26rem;padding-top:8vh}main.wide{m" +
  "ax-width:100rem}header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;padding:.5rem 1rem;backgr" +
  "ound:var(--card);border-bottom:1px solid var(--line)}header nav{flex:1 1 auto}header ul{display:flex;flex-wrap" +
  ":wrap;gap:.25rem;list-style:none;margin:0;padding:0}header nav a{display:block;padding:.4rem .7rem;border-radi" +
  "us:.4rem;text-decoration:none;color:var(--text)}header nav a:hover{text-decoration:underline}header nav a[aria" +
  "-current=page]{background:var(--accent);color:var(--on-accent)}.brand{font-weight:700}.skip{position:absolute;" +
  "left:-100rem}.skip:focus{left:.5rem;top:.5rem;background:var(--card);padding:.5rem;z-index:2}.said{max-width:6" +
  "4rem;margin:0 auto;padding:0 1rem;min-height:1.5rem;color:var(--good)}.card{background:var(--card);border:1px " +
  "solid var(--line);border-radius:.6rem;padding:1rem;margin:0 0 1rem}.quiet,small{color:var(--quiet)}.good{color" +
  ":var(--good)}.fault,.problem{color:var(--bad)}.fault{background:var(--bad-ground);padding:.5rem .75rem;border-" +
  "radius:.4rem}.row{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:flex-start}.row>.field{flex:1 1 12rem" +
  "}.grow{flex:1 1 16rem;min-width:0}.text,code{overflow-wrap:anywhere}code,pre{font:.875rem/1.5 ui-monospace,mon" +
  "ospace}pre{background:var(--page);border:1px solid var(--line);border-radius:.4rem;padding:.75rem;margin:.5rem" +
  " 0}pre code{overflow-wrap:normal}.scroll{overflow-x:auto;max-width:100%}table{border-collapse:collapse;width:1" +
  "00%}th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:to" +
  "p}.number{text-align:right;font-variant-numeric:tabular-nums}.field{display:flex;flex-direction:column;gap:.2r" +
  "em;margin:.6rem 0}label{font-weight:600}label.check{font-weight:400;display:block;padding:.15rem 0}input:not([" +
  "type=checkbox],[type=radio]),select,textarea{font:inherit;color:inherit;background:var(--page);border:1px soli" +
  "d var(--border);border-radius:.4rem;padding:.5rem .6rem;width:100%;min-width:0}textarea{resize:vertical}[aria-" +
  "invalid=true]{border-color:var(--bad)}fieldset{border:1px solid var(--line);border-radius:.4rem;margin:.6rem 0" +
  ";padding:.5rem .75rem}legend{font-weight:600;padding:0 .3rem}button{font:inherit;color:var(--text);background:" +
  "var(--card);border:1px solid var(--border);border-radius:.4rem;padding:.45rem .9rem;cursor:pointer}button:hove" +
  "r:not(:disabled){border-color:var(--accent)}button:disabled{color:var(--quiet);cursor:default}button.main{back" +
  "ground:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}button.main:disabled{ba" +
  "ckground:var(--card);color:var(--quiet);border-color:var(--border)}button.danger{color:var(--bad);border-color" +
  ":var(--bad)}button.link{border:none;background:none;color:var(--accent);text-decoration:underline;padding:.4re" +
  "m .5rem .4rem 0}:focus-visible{outline:3px solid var(--accent);outline-offset:2px}.action{display:inline-block" +
  "}.items{list-style:none;margin:0;padding:0}.items>li{display:flex;flex-wrap:wrap;gap:.5rem 1rem;padding:.6rem " +
  "0;border-top:1px solid var(--line)}.items p{margin:.1rem 0}.secret{border:2px solid var(--accent);border-radiu" +
  "s:.5rem;padding:.5rem .9rem;margin:.5rem 0}.secret button{margin-right:.5rem}.secret-text{user-select:all;font" +
  "-weight:600}.segments{display:flex;flex-wrap:wrap;gap:.3rem}.segments legend{float:left;width:100%;padding:0 0" +
  " .3rem}.segments input{position:absolute;opacity:0}.segments span{display:block;padding:.35rem .8rem;border:1p" +
  "x solid var(--border);border-radius:.4rem;font-weight:400}.segments input:checked+span{background:var(--accent" +
  ");border-color:var(--accent);color:var(--on-accent);font-weight:600}.segments input:focus-visible+span{outline" +
  ":3px solid var(--accent);outline-offset:2px}progress{width:100%;height:1rem;appearance:none;border:1px solid v" +
  "ar(--border);border-radius:.5rem;overflow:hidden;background:var(--page)}progress::-webkit-progress-bar{backgro" +
  "und:var(--page)}progress::-webkit-progress-value{background:var(--accent)}progress::-moz-progress-bar{backgrou" +
  "nd:var(--accent)}progress.near::-webkit-progress-value{background:var(--bad)}progress.near::-moz-progress-bar{" +
  "background:var(--bad)}.plot{min-height:220px}summary{cursor:pointer;padding:.3rem 0}dialog{border:1px solid va" +
  "r(--border);border-radius:.6rem;background:var(--card);color:var(--text);width:min(28rem,92vw);padding:1.25rem" +
  "}dialog::backdrop{background:#0000008c}@media(min-width:120rem){html{font-size:125%}}@media(min-width:200rem){" +
  "html{font-size:175%}}@media(prefers-reduced-motion:reduce){*,:before,:after{animation:none!important;transitio" +
  "n:none!important;scroll-behavior:auto!important}}@media(forced-colors:active){.segments input:checked+span,hea" +
  "der nav a[aria-current=page]{border:2px solid}}\n";
