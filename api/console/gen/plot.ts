/** Built from api/console/page/plot.ts by tools/generate_console.ts; do not edit. */
export const text =
  "/*! With preact (MIT, Jason Miller), htm (Apache-2.0, Google) and uPlot (MIT, Leon Sorokin). */\nvar Qs=\"uplot\"" +
  ",Xs=\"u-hz\",er=\"u-vt\",tr=\"u-title\",lr=\"u-wrap\",nr=\"u-under\",ir=\"u-over\",or=\"u-axis\",Zt=\"u-off\",sr=\"u-select\",rr" +
  "=\"u-cursor-x\",fr=\"u-cursor-y\",ur=\"u-cursor-pt\",cr=\"u-legend\",ar=\"u-live\",pr=\"u-inline\",hr=\"u-series\",mr=\"u-mar" +
  "ker\",ji=\"u-label\",dr=\"u-value\",Nl=\"width\",Wl=\"height\";var qi=\"bottom\",yl=\"left\",Wn=\"right\",ni=\"#000\",$i=ni+\"0\"" +
  ",Gn=\"mousemove\",Ji=\"mousedown\",In=\"mouseup\",Zi=\"mouseenter\",Qi=\"mouseleave\",Xi=\"dblclick\",gr=\"resize\",wr=\"scro" +
  "ll\",eo=\"change\",sn=\"dppxchange\",ii=\"--\",El=typeof window<\"u\",jn=El?document:null,kl=El?window:null,Sr=El?navig" +
  "ator:null,oe,tn;function qn(){let e=devicePixelRatio;oe!=e&&(oe=e,tn&&Jn(eo,tn,qn),tn=matchMedia(`(min-resolut" +
  "ion: ${oe-.001}dppx) and (max-resolution: ${oe+.001}dppx)`),Qt(eo,tn,qn),kl.dispatchEvent(new CustomEvent(sn))" +
  ")}function Xe(e,l){if(l!=null){let o=e.classList;!o.contains(l)&&o.add(l)}}function $n(e,l){let o=e.classList;" +
  "o.contains(l)&&o.remove(l)}function ge(e,l,o){e.style[l]=o+\"px\"}function dt(e,l,o,n){let s=jn.createElement(e)" +
  ";return l!=null&&Xe(s,l),o?.insertBefore(s,n),s}function ft(e,l){return dt(\"div\",e,l)}var to=new WeakMap;funct" +
  "ion Tt(e,l,o,n,s){let c=\"translate(\"+l+\"px,\"+o+\"px)\",u=to.get(e);c!=u&&(e.style.transform=c,to.set(e,c),l<0||o" +
  "<0||l>n||o>s?Xe(e,Zt):$n(e,Zt))}var lo=new WeakMap;function no(e,l,o){let n=l+o,s=lo.get(e);n!=s&&(lo.set(e,n)" +
  ",e.style.background=l,e.style.borderColor=o)}var io=new WeakMap;function oo(e,l,o,n){let s=l+\"\"+o,c=io.get(e);" +
  "s!=c&&(io.set(e,s),e.style.height=o+\"px\",e.style.width=l+\"px\",e.style.marginLeft=n?-l/2+\"px\":0,e.style.marginT" +
  "op=n?-o/2+\"px\":0)}var oi={passive:!0},_r={...oi,capture:!0};function Qt(e,l,o,n){l.addEventListener(e,o,n?_r:o" +
  "i)}function Jn(e,l,o,n){l.removeEventListener(e,o,oi)}El&&qn();function gt(e,l,o,n){let s;o=o||0,n=n||l.length" +
  "-1;let c=n<=2147483647;for(;n-o>1;)s=c?o+n>>1:et((o+n)/2),l[s]<e?o=s:n=s;return e-l[o]<=l[n]-e?o:n}function zo" +
  "(e){return(o,n,s)=>{let c=-1,u=-1;for(let h=n;h<=s;h++)if(e(o[h])){c=h;break}for(let h=s;h>=n;h--)if(e(o[h])){" +
  "u=h;break}return[c,u]}}var Ro=e=>e!=null,Fo=e=>e!=null&&e>0,un=zo(Ro),yr=zo(Fo);function vr(e,l,o,n=0,s=!1){le" +
  "t c=s?yr:un,u=s?Fo:Ro;[l,o]=c(e,l,o);let h=e[l],m=e[l];if(l>-1)if(n==1)h=e[l],m=e[o];else if(n==-1)h=e[o],m=e[" +
  "l];else for(let d=l;d<=o;d++){let y=e[d];u(y)&&(y<h?h=y:y>m&&(m=y))}return[h??ce,m??-ce]}function cn(e,l,o,n){" +
  "let s=fo(e),c=fo(l);e==l&&(s==-1?(e*=o,l/=o):(e/=o,l*=o));let u=o==10?Pt:Oo,h=s==1?et:ut,m=c==1?ut:et,d=h(u(Ae" +
  "(e))),y=m(u(Ae(l))),g=xl(o,d),w=xl(o,y);return o==10&&(d<0&&(g=ae(g,-d)),y<0&&(w=ae(w,-y))),n||o==2?(e=g*s,l=w" +
  "*c):(e=Go(e,g),l=an(l,w)),[e,l]}function si(e,l,o,n){let s=cn(e,l,o,n);return e==0&&(s[0]=0),l==0&&(s[1]=0),s}" +
  "var ri=.1,so={mode:3,pad:ri},Il={pad:0,soft:null,mode:0},kr={min:Il,max:Il};function rn(e,l,o,n){return pn(o)?" +
  "ro(e,l,o):(Il.pad=o,Il.soft=n?0:null,Il.mode=n?3:0,ro(e,l,kr))}function ne(e,l){return e??l}function xr(e,l,o)" +
  "{for(l=ne(l,0),o=ne(o,e.length-1);l<=o;){if(e[l]!=null)return!0;l++}return!1}function ro(e,l,o){let n=o.min,s=" +
  "o.max,c=ne(n.pad,0),u=ne(s.pad,0),h=ne(n.hard,-ce),m=ne(s.hard,ce),d=ne(n.soft,ce),y=ne(s.soft,-ce),g=ne(n.mod" +
  "e,0),w=ne(s.mode,0),L=l-e,D=Pt(L),O=Be(Ae(e),Ae(l)),N=Pt(O),G=Ae(N-D);(L<1e-24||G>10)&&(L=0,(e==0||l==0)&&(L=1" +
  "e-24,g==2&&d!=ce&&(c=0),w==2&&y!=-ce&&(u=0)));let k=L||O||1e3,H=Pt(k),x=xl(10,et(H)),q=k*(L==0?e==0?.1:1:c),P=" +
  "ae(Go(e-q,x/10),24),$=e>=d&&(g==1||g==3&&P<=d||g==2&&P>=d)?d:ce,U=Be(h,P<$&&e>=$?$:wt($,P)),Q=k*(L==0?l==0?.1:" +
  "1:u),B=ae(an(l+Q,x/10),24),b=l<=y&&(w==1||w==3&&B>=y||w==2&&B<=y)?y:-ce,j=wt(m,B>b&&l<=b?b:Be(b,B));return U==" +
  "j&&U==0&&(j=100),[U,j]}var br=new Intl.NumberFormat(El?Sr.language:\"en-US\"),fi=e=>br.format(e),tt=Math,on=tt.P" +
  "I,Ae=tt.abs,et=tt.floor,Ee=tt.round,ut=tt.ceil,wt=tt.min,Be=tt.max,xl=tt.pow,fo=tt.sign,Pt=tt.log10,Oo=tt.log2" +
  ",Tr=(e,l=1)=>tt.sinh(e)*l,Yn=(e,l=1)=>tt.asinh(e/l),ce=1/0;function uo(e){return(Pt((e^e>>31)-(e>>31))|0)+1}fu" +
  "nction Zn(e,l,o){return wt(Be(e,l),o)}function Ho(e){return typeof e==\"function\"}function X(e){return Ho(e)?e:" +
  "()=>e}var Mr=()=>{},No=e=>e,Wo=(e,l)=>l,Er=e=>null,co=e=>!0,ao=(e,l)=>e==l,Ar=/\\.\\d*?(?=9{6,}|0{6,})/gm,Xt=e=>" +
  "{if(Yo(e)||Ht.has(e))return e;let l=`${e}`,o=l.match(Ar);if(o==null)return e;let n=o[0].length-1;if(l.indexOf(" +
  "\"e-\")!=-1){let[s,c]=l.split(\"e\");return+`${Xt(s)}e${c}`}return ae(e,n)};function $t(e,l){return Xt(ae(Xt(e/l))" +
  "*l)}function an(e,l){return Xt(ut(Xt(e/l))*l)}function Go(e,l){return Xt(et(Xt(e/l))*l)}function ae(e,l=0){if(" +
  "Yo(e))return e;let o=10**l,n=e*o*(1+Number.EPSILON);return Ee(n)/o}var Ht=new Map;function Io(e){return((\"\"+e)" +
  ".split(\".\")[1]||\"\").length}function Bl(e,l,o,n){let s=[],c=n.map(Io);for(let u=l;u<o;u++){let h=Ae(u),m=ae(xl(" +
  "e,u),h);for(let d=0;d<n.length;d++){let y=e==10?+`${n[d]}e${u}`:n[d]*m,g=(u>=0?0:h)+(u>=c[d]?0:c[d]),w=e==10?y" +
  ":ae(y,g);s.push(w),Ht.set(w,g)}}return s}var Yl={},ui=[],bl=[null,null],Ot=Array.isArray,Yo=Number.isInteger,P" +
  "r=e=>e===void 0;function po(e){return typeof e==\"string\"}function pn(e){let l=!1;if(e!=null){let o=e.construct" +
  "or;l=o==null||o==Object}return l}function Dr(e){return e!=null&&typeof e==\"object\"}var Lr=Object.getPrototypeO" +
  "f(Uint8Array),Bo=\"__proto__\";function Tl(e,l=pn){let o;if(Ot(e)){let n=e.find(s=>s!=null);if(Ot(n)||l(n)){o=Ar" +
  "ray(e.length);for(let s=0;s<e.length;s++)o[s]=Tl(e[s],l)}else o=e.slice()}else if(e instanceof Lr)o=e.slice();" +
  "else if(l(e)){o={};for(let n in e)n!=Bo&&(o[n]=Tl(e[n],l))}else o=e;return o}function be(e){let l=arguments;fo" +
  "r(let o=1;o<l.length;o++){let n=l[o];for(let s in n)s!=Bo&&(pn(e[s])?be(e[s],Tl(n[s])):e[s]=Tl(n[s]))}return e" +
  "}var Cr=0,Vr=1,zr=2;function Rr(e,l,o){for(let n=0,s,c=-1;n<l.length;n++){let u=l[n];if(u>c){for(s=u-1;s>=0&&e" +
  "[s]==null;)e[s--]=null;for(s=u+1;s<o&&e[s]==null;)e[c=s++]=null}}}function Fr(e,l){if(Nr(e)){let u=e[0].slice(" +
  ");for(let h=1;h<e.length;h++)u.push(...e[h].slice(1));return Wr(u[0])||(u=Hr(u)),u}let o=new Set;for(let u=0;u" +
  "<e.length;u++){let m=e[u][0],d=m.length;for(let y=0;y<d;y++)o.add(m[y])}let n=[Array.from(o).sort((u,h)=>u-h)]" +
  ",s=n[0].length,c=new Map;for(let u=0;u<s;u++)c.set(n[0][u],u);for(let u=0;u<e.length;u++){let h=e[u],m=h[0];fo" +
  "r(let d=1;d<h.length;d++){let y=h[d],g=Array(s).fill(void 0),w=l?l[u][d]:Vr,L=[];for(let D=0;D<y.length;D++){l" +
  "et O=y[D],N=c.get(m[D]);O===null?w!=Cr&&(g[N]=O,w==zr&&L.push(N)):g[N]=O}Rr(g,L,s),n.push(g)}}return n}var Or=" +
  "typeof queueMicrotask>\"u\"?e=>Promise.resolve().then(e):queueMicrotask;function Hr(e){let l=e[0],o=l.length,n=A" +
  "rray(o);for(let c=0;c<n.length;c++)n[c]=c;n.sort((c,u)=>l[c]-l[u]);let s=[];for(let c=0;c<e.length;c++){let u=" +
  "e[c],h=Array(o);for(let m=0;m<o;m++)h[m]=u[n[m]];s.push(h)}return s}function Nr(e){let l=e[0][0],o=l.length;fo" +
  "r(let n=1;n<e.length;n++){let s=e[n][0];if(s.length!=o)return!1;if(s!=l){for(let c=0;c<o;c++)if(s[c]!=l[c])ret" +
  "urn!1}}return!0}function Wr(e,l=100){let o=e.length;if(o<=1)return!0;let n=0,s=o-1;for(;n<=s&&e[n]==null;)n++;" +
  "for(;s>=n&&e[s]==null;)s--;if(s<=n)return!0;let c=Be(1,et((s-n+1)/l));for(let u=e[n],h=n+c;h<=s;h+=c){let m=e[" +
  "h];if(m!=null){if(m<=u)return!1;u=m}}return!0}var Uo=[\"January\",\"February\",\"March\",\"April\",\"May\",\"June\",\"July\"" +
  ",\"August\",\"September\",\"October\",\"November\",\"December\"],Ko=[\"Sunday\",\"Monday\",\"Tuesday\",\"Wednesday\",\"Thursday\"," +
  "\"Friday\",\"Saturday\"];function jo(e){return e.slice(0,3)}var Gr=Ko.map(jo),Ir=Uo.map(jo),Yr={MMMM:Uo,MMM:Ir,WWW" +
  "W:Ko,WWW:Gr};function Hl(e){return(e<10?\"0\":\"\")+e}function Br(e){return(e<10?\"00\":e<100?\"0\":\"\")+e}var Ur={YYYY" +
  ":e=>e.getFullYear(),YY:e=>(e.getFullYear()+\"\").slice(2),MMMM:(e,l)=>l.MMMM[e.getMonth()],MMM:(e,l)=>l.MMM[e.ge" +
  "tMonth()],MM:e=>Hl(e.getMonth()+1),M:e=>e.getMonth()+1,DD:e=>Hl(e.getDate()),D:e=>e.getDate(),WWWW:(e,l)=>l.WW" +
  "WW[e.getDay()],WWW:(e,l)=>l.WWW[e.getDay()],HH:e=>Hl(e.getHours()),H:e=>e.getHours(),h:e=>{let l=e.getHours();" +
  "return l==0?12:l>12?l-12:l},AA:e=>e.getHours()>=12?\"PM\":\"AM\",aa:e=>e.getHours()>=12?\"pm\":\"am\",a:e=>e.getHours(" +
  ")>=12?\"p\":\"a\",mm:e=>Hl(e.getMinutes()),m:e=>e.getMinutes(),ss:e=>Hl(e.getSeconds()),s:e=>e.getSeconds(),fff:e=" +
  ">Br(e.getMilliseconds())};function ci(e,l){l=l||Yr;let o=[],n=/\\{([a-z]+)\\}|[^{]+/gi,s;for(;s=n.exec(e);)o.pus" +
  "h(s[0][0]==\"{\"?Ur[s[1]]:s[0]);return c=>{let u=\"\";for(let h=0;h<o.length;h++)u+=typeof o[h]==\"string\"?o[h]:o[h" +
  "](c,l);return u}}var Kr=new Intl.DateTimeFormat().resolvedOptions().timeZone;function jr(e,l){let o;return l==" +
  "\"UTC\"||l==\"Etc/UTC\"?o=new Date(+e+e.getTimezoneOffset()*6e4):l==Kr?o=e:(o=new Date(e.toLocaleString(\"en-US\",{t" +
  "imeZone:l})),o.setMilliseconds(e.getMilliseconds())),o}var qo=e=>e%1==0,fn=[1,2,2.5,5],qr=Bl(10,-32,0,fn),$o=B" +
  "l(10,0,32,fn),$r=$o.filter(qo),Jt=qr.concat($o),ai=`\n`,Jo=\"{YYYY}\",ho=ai+Jo,Zo=\"{M}/{D}\",Gl=ai+Zo,ln=Gl+\"/{YY}" +
  "\",Qo=\"{aa}\",Jr=\"{h}:{mm}\",vl=Jr+Qo,mo=ai+vl,go=\":{ss}\",re=null;function Xo(e){let l=e*1e3,o=l*60,n=o*60,s=n*24" +
  ",c=s*30,u=s*365,m=(e==1?Bl(10,0,3,fn).filter(qo):Bl(10,-3,0,fn)).concat([l,l*5,l*10,l*15,l*30,o,o*5,o*10,o*15," +
  "o*30,n,n*2,n*3,n*4,n*6,n*8,n*12,s,s*2,s*3,s*4,s*5,s*6,s*7,s*8,s*9,s*10,s*15,c,c*2,c*3,c*4,c*6,u,u*2,u*5,u*10,u" +
  "*25,u*50,u*100]),d=[[u,Jo,re,re,re,re,re,re,1],[s*28,\"{MMM}\",ho,re,re,re,re,re,1],[s,Zo,ho,re,re,re,re,re,1],[" +
  "n,\"{h}\"+Qo,ln,re,Gl,re,re,re,1],[o,vl,ln,re,Gl,re,re,re,1],[l,go,ln+\" \"+vl,re,Gl+\" \"+vl,re,mo,re,1],[e,go+\".{f" +
  "ff}\",ln+\" \"+vl,re,Gl+\" \"+vl,re,mo,re,1]];function y(g){return(w,L,D,O,N,G)=>{let k=[],H=N>=u,x=N>=c&&N<u,q=g(D" +
  "),P=ae(q*e,3),$=Bn(q.getFullYear(),H?0:q.getMonth(),x||H?1:q.getDate()),U=ae($*e,3);if(x||H){let Q=x?N/c:0,B=H" +
  "?N/u:0,b=P==U?P:ae(Bn($.getFullYear()+B,$.getMonth()+Q,1)*e,3),j=new Date(Ee(b/e)),C=j.getFullYear(),I=j.getMo" +
  "nth();for(let F=0;b<=O;F++){let ee=Bn(C+B*F,I+Q*F,1),R=ee-g(ae(ee*e,3));b=ae((+ee+R)*e,3),b<=O&&k.push(b)}}els" +
  "e{let Q=N>=s?s:N,B=et(D)-et(P),b=U+B+an(P-U,Q);k.push(b);let j=g(b),C=j.getHours()+j.getMinutes()/o+j.getSecon" +
  "ds()/n,I=N/n,F=w.axes[L]._space,ee=G/F;for(;b=ae(b+N,e==1?0:3),!(b>O);)if(I>1){let R=et(ae(C+I,6))%24,te=g(b)." +
  "getHours()-R;te>1&&(te=-1),b-=te*n,C=(C+I)%24;let fe=k[k.length-1];ae((b-fe)/N,3)*ee>=.7&&k.push(b)}else k.pus" +
  "h(b)}return k}}return[m,d,y]}var[Zr,Qr,Xr]=Xo(1),[ef,tf,lf]=Xo(.001);Bl(2,-53,53,[1]);function wo(e,l){return " +
  "e.map(o=>o.map((n,s)=>s==0||s==8||n==null?n:l(s==1||o[8]==0?n:o[1]+n)))}function So(e,l){return(o,n,s,c,u)=>{l" +
  "et h=l.find(D=>u>=D[0])||l[l.length-1],m,d,y,g,w,L;return n.map(D=>{let O=e(D),N=O.getFullYear(),G=O.getMonth(" +
  "),k=O.getDate(),H=O.getHours(),x=O.getMinutes(),q=O.getSeconds(),P=N!=m&&h[2]||G!=d&&h[3]||k!=y&&h[4]||H!=g&&h" +
  "[5]||x!=w&&h[6]||q!=L&&h[7]||h[1];return m=N,d=G,y=k,g=H,w=x,L=q,P(O)})}}function nf(e,l){let o=ci(l);return(n" +
  ",s,c,u,h)=>s.map(m=>o(e(m)))}function Bn(e,l,o){return new Date(e,l,o)}function _o(e,l){return l(e)}var of=\"{Y" +
  "YYY}-{MM}-{DD} {h}:{mm}{aa}\";function yo(e,l){return(o,n,s,c)=>c==null?ii:l(e(n))}function sf(e,l){let o=e.ser" +
  "ies[l];return o.width?o.stroke(e,l):o.points.width?o.points.stroke(e,l):null}function rf(e,l){return e.series[" +
  "l].fill(e,l)}var ff={show:!0,live:!0,isolate:!1,mount:Mr,markers:{show:!0,width:2,stroke:sf,fill:rf,dash:\"soli" +
  "d\"},idx:null,idxs:null,values:[]};function uf(e,l){let o=e.cursor.points,n=ft(),s=o.size(e,l);ge(n,Nl,s),ge(n," +
  "Wl,s);let c=s/-2;ge(n,\"marginLeft\",c),ge(n,\"marginTop\",c);let u=o.width(e,l,s);return u&&ge(n,\"borderWidth\",u)" +
  ",n}function cf(e,l){let o=e.series[l].points;return o._fill||o._stroke}function af(e,l){let o=e.series[l].poin" +
  "ts;return o._stroke||o._fill}function pf(e,l){return e.series[l].points.size}var Un=[0,0];function hf(e,l,o){r" +
  "eturn Un[0]=l,Un[1]=o,Un}function nn(e,l,o,n=!0){return s=>{s.button==0&&(!n||s.target==l)&&o(s)}}function Kn(" +
  "e,l,o,n=!0){return s=>{(!n||s.target==l)&&o(s)}}var mf={show:!0,x:!0,y:!0,lock:!1,move:hf,points:{one:!1,show:" +
  "uf,size:pf,width:0,stroke:af,fill:cf},bind:{mousedown:nn,mouseup:nn,click:nn,dblclick:nn,mousemove:Kn,mouselea" +
  "ve:Kn,mouseenter:Kn},drag:{setScale:!0,x:!0,y:!1,dist:0,uni:null,click:(e,l)=>{l.stopPropagation(),l.stopImmed" +
  "iatePropagation()},_x:!1,_y:!1},focus:{dist:(e,l,o,n,s)=>n-s,prox:-1,bias:0},hover:{skip:[void 0],prox:null,bi" +
  "as:0},left:-10,top:-10,idx:null,dataIdx:null,idxs:null,event:null},es={show:!0,stroke:\"rgba(0,0,0,0.07)\",width" +
  ":2},pi=be({},es,{filter:Wo}),ts=be({},pi,{size:10}),ls=be({},es,{show:!1}),hi='12px system-ui, -apple-system, " +
  "\"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, \"Noto Sans\", sans-serif, \"Apple Color Emoji\", \"Segoe UI Emoji\", \"" +
  "Segoe UI Symbol\", \"Noto Color Emoji\"',ns=\"bold \"+hi,is=1.5,vo={show:!0,scale:\"x\",stroke:ni,space:50,gap:5,alig" +
  "nTo:1,size:50,labelGap:0,labelSize:30,labelFont:ns,side:2,grid:pi,ticks:ts,border:ls,font:hi,lineGap:is,rotate" +
  ":0},df=\"Value\",gf=\"Time\",ko={show:!0,scale:\"x\",auto:!1,sorted:1,min:ce,max:-ce,idxs:[]};function wf(e,l,o,n,s)" +
  "{return l.map(c=>c==null?\"\":fi(c))}function Sf(e,l,o,n,s,c,u){let h=[],m=Ht.get(s)||0;o=u?o:ae(an(o,s),m);for(" +
  "let d=o;d<=n;d=ae(d+s,m))h.push(Object.is(d,-0)?0:d);return h}function Qn(e,l,o,n,s,c,u){let h=[],m=e.scales[e" +
  ".axes[l].scale].log,d=m==10?Pt:Oo,y=et(d(o));s=xl(m,y),m==10&&(s=Jt[gt(s,Jt)]);let g=o,w=s*m;m==10&&(w=Jt[gt(w" +
  ",Jt)]);do h.push(g),g=g+s,m==10&&!Ht.has(g)&&(g=ae(g,Ht.get(s))),g>=w&&(s=g,w=s*m,m==10&&(w=Jt[gt(w,Jt)]));whi" +
  "le(g<=n);return h}function _f(e,l,o,n,s,c,u){let m=e.scales[e.axes[l].scale].asinh,d=n>m?Qn(e,l,Be(m,o),n,s):[" +
  "m],y=n>=0&&o<=0?[0]:[];return(o<-m?Qn(e,l,Be(m,-n),-o,s):[m]).reverse().map(w=>-w).concat(y,d)}var os=/./,yf=/" +
  "[12357]/,vf=/[125]/,xo=/1/,Xn=(e,l,o,n)=>e.map((s,c)=>l==4&&s==0||c%n==0&&o.test(s.toExponential()[s<0?1:0])?s" +
  ":null);function kf(e,l,o,n,s){let c=e.axes[o],u=c.scale,h=e.scales[u],m=e.valToPos,d=c._space,y=m(10,u),g=m(9," +
  "u)-y>=d?os:m(7,u)-y>=d?yf:m(5,u)-y>=d?vf:xo;if(g==xo){let w=Ae(m(1,u)-y);if(w<d)return Xn(l.slice().reverse()," +
  "h.distr,g,ut(d/w)).reverse()}return Xn(l,h.distr,g,1)}function xf(e,l,o,n,s){let c=e.axes[o],u=c.scale,h=c._sp" +
  "ace,m=e.valToPos,d=Ae(m(1,u)-m(2,u));return d<h?Xn(l.slice().reverse(),3,os,ut(h/d)).reverse():l}function bf(e" +
  ",l,o,n){return n==null?ii:l==null?\"\":fi(l)}var bo={show:!0,scale:\"y\",stroke:ni,space:30,gap:5,alignTo:1,size:5" +
  "0,labelGap:0,labelSize:30,labelFont:ns,side:3,grid:pi,ticks:ts,border:ls,font:hi,lineGap:is,rotate:0};function" +
  " Tf(e,l){let o=3+(e||1)*2;return ae(o*l,3)}function Mf(e,l){let{scale:o,idxs:n}=e.series[0],s=e._data[0],c=e.v" +
  "alToPos(s[n[0]],o,!0),u=e.valToPos(s[n[1]],o,!0),h=Ae(u-c),m=e.series[l],d=h/(m.points.space*oe);return n[1]-n" +
  "[0]<=d}var To={scale:null,auto:!0,sorted:0,min:ce,max:-ce},ss=(e,l,o,n,s)=>s,Mo={show:!0,auto:!0,sorted:0,gaps" +
  ":ss,alpha:1,facets:[be({},To,{scale:\"x\"}),be({},To,{scale:\"y\"})]},Eo={scale:\"y\",auto:!0,sorted:0,show:!0,spanG" +
  "aps:!1,gaps:ss,alpha:1,points:{show:Mf,filter:null},values:null,min:ce,max:-ce,idxs:[],path:null,clip:null};fu" +
  "nction Ef(e,l,o,n,s){return o/10}var rs={time:!0,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0}" +
  ",Af=be({},rs,{time:!1,ori:1}),Ao={};function fs(e,l){let o=Ao[e];return o||(o={key:e,plots:[],sub(n){o.plots.p" +
  "ush(n)},unsub(n){o.plots=o.plots.filter(s=>s!=n)},pub(n,s,c,u,h,m,d){for(let y=0;y<o.plots.length;y++)o.plots[" +
  "y]!=s&&o.plots[y].pub(n,s,c,u,h,m,d)}},e!=null&&(Ao[e]=o)),o}var Ml=1,ei=2;function el(e,l,o){let n=e.mode,s=e" +
  ".series[l],c=n==2?e._data[l]:e._data,u=e.scales,h=e.bbox,m=c[0],d=n==2?c[1]:c[l],y=n==2?u[s.facets[0].scale]:u" +
  "[e.series[0].scale],g=n==2?u[s.facets[1].scale]:u[s.scale],w=h.left,L=h.top,D=h.width,O=h.height,N=e.valToPosH" +
  ",G=e.valToPosV;return y.ori==0?o(s,m,d,y,g,N,G,w,L,D,O,mn,Al,gn,cs,ps):o(s,m,d,y,g,G,N,L,w,O,D,dn,Pl,gi,as,hs)" +
  "}function mi(e,l){let o=0,n=0,s=ne(e.bands,ui);for(let c=0;c<s.length;c++){let u=s[c];u.series[0]==l?o=u.dir:u" +
  ".series[1]==l&&(u.dir==1?n|=1:n|=2)}return[o,n==1?-1:n==2?1:n==3?2:0]}function Pf(e,l,o,n,s){let c=e.mode,u=e." +
  "series[l],h=c==2?u.facets[1].scale:u.scale,m=e.scales[h];return s==-1?m.min:s==1?m.max:m.distr==3?m.dir==1?m.m" +
  "in:m.max:0}function Dt(e,l,o,n,s,c){return el(e,l,(u,h,m,d,y,g,w,L,D,O,N)=>{let G=u.pxRound,k=d.dir*(d.ori==0?" +
  "1:-1),H=d.ori==0?Al:Pl,x,q;k==1?(x=o,q=n):(x=n,q=o);let P=G(g(h[x],d,O,L)),$=G(w(m[x],y,N,D)),U=G(g(h[q],d,O,L" +
  ")),Q=G(w(c==1?y.max:y.min,y,N,D)),B=new Path2D(s);return H(B,U,Q),H(B,P,Q),H(B,P,$),B})}function hn(e,l,o,n,s," +
  "c){let u=null;if(e.length>0){u=new Path2D;let h=l==0?gn:gi,m=o;for(let g=0;g<e.length;g++){let w=e[g];if(w[1]>" +
  "w[0]){let L=w[0]-m;L>0&&h(u,m,n,L,n+c),m=w[1]}}let d=o+s-m,y=10;d>0&&h(u,m,n-y/2,d,n+c+y)}return u}function Df" +
  "(e,l,o){let n=e[e.length-1];n&&n[0]==l?n[1]=o:e.push([l,o])}function di(e,l,o,n,s,c,u){let h=[],m=e.length;for" +
  "(let d=s==1?o:n;d>=o&&d<=n;d+=s)if(l[d]===null){let g=d,w=d;if(s==1)for(;++d<=n&&l[d]===null;)w=d;else for(;--" +
  "d>=o&&l[d]===null;)w=d;let L=c(e[g]),D=w==g?L:c(e[w]),O=g-s;L=u<=0&&O>=0&&O<m?c(e[O]):L;let G=w+s;D=u>=0&&G>=0" +
  "&&G<m?c(e[G]):D,D>=L&&h.push([L,D])}return h}function Po(e){return e==0?No:e==1?Ee:l=>$t(l,e)}function us(e){l" +
  "et l=e==0?mn:dn,o=e==0?(s,c,u,h,m,d)=>{s.arcTo(c,u,h,m,d)}:(s,c,u,h,m,d)=>{s.arcTo(u,c,m,h,d)},n=e==0?(s,c,u,h" +
  ",m)=>{s.rect(c,u,h,m)}:(s,c,u,h,m)=>{s.rect(u,c,m,h)};return(s,c,u,h,m,d=0,y=0)=>{d==0&&y==0?n(s,c,u,h,m):(d=w" +
  "t(d,h/2,m/2),y=wt(y,h/2,m/2),l(s,c+d,u),o(s,c+h,u,c+h,u+m,d),o(s,c+h,u+m,c,u+m,y),o(s,c,u+m,c,u,y),o(s,c,u,c+h" +
  ",u,d),s.closePath())}}var mn=(e,l,o)=>{e.moveTo(l,o)},dn=(e,l,o)=>{e.moveTo(o,l)},Al=(e,l,o)=>{e.lineTo(l,o)}," +
  "Pl=(e,l,o)=>{e.lineTo(o,l)},gn=us(0),gi=us(1),cs=(e,l,o,n,s,c)=>{e.arc(l,o,n,s,c)},as=(e,l,o,n,s,c)=>{e.arc(o," +
  "l,n,s,c)},ps=(e,l,o,n,s,c,u)=>{e.bezierCurveTo(l,o,n,s,c,u)},hs=(e,l,o,n,s,c,u)=>{e.bezierCurveTo(o,l,s,n,u,c)" +
  "};function ms(e){return(l,o,n,s,c)=>el(l,o,(u,h,m,d,y,g,w,L,D,O,N)=>{let{pxRound:G,points:k}=u,H,x;d.ori==0?(H" +
  "=mn,x=cs):(H=dn,x=as);let q=ae(k.width*oe,3),P=(k.size-k.width)/2*oe,$=ae(P*2,3),U=new Path2D,Q=new Path2D,{le" +
  "ft:B,top:b,width:j,height:C}=l.bbox;gn(Q,B-$,b-$,j+$*2,C+$*2);let I=F=>{if(m[F]!=null){let ee=G(g(h[F],d,O,L))" +
  ",R=G(w(m[F],y,N,D));H(U,ee+P,R),x(U,ee,R,P,0,on*2)}};if(c)c.forEach(I);else for(let F=n;F<=s;F++)I(F);return{s" +
  "troke:q>0?U:null,fill:U,clip:Q,flags:Ml|ei}})}function ds(e){return(l,o,n,s,c,u)=>{n!=s&&(c!=n&&u!=n&&e(l,o,n)" +
  ",c!=s&&u!=s&&e(l,o,s),e(l,o,u))}}var Lf=ds(Al),Cf=ds(Pl);function gs(e){let l=ne(e?.alignGaps,0);return(o,n,s," +
  "c)=>el(o,n,(u,h,m,d,y,g,w,L,D,O,N)=>{[s,c]=un(m,s,c);let G=u.pxRound,k=C=>G(g(C,d,O,L)),H=C=>G(w(C,y,N,D)),x,q" +
  ";d.ori==0?(x=Al,q=Lf):(x=Pl,q=Cf);let P=d.dir*(d.ori==0?1:-1),$={stroke:new Path2D,fill:null,clip:null,band:nu" +
  "ll,gaps:null,flags:Ml},U=$.stroke,Q=!1;if(c-s>=O*4){let C=V=>o.posToVal(V,d.key,!0),I=null,F=null,ee,R,Ue,we=k" +
  "(h[P==1?s:c]),te=k(h[s]),fe=k(h[c]),J=C(P==1?te+1:fe-1);for(let V=P==1?s:c;V>=s&&V<=c;V+=P){let Te=h[V],Se=(P=" +
  "=1?Te<J:Te>J)?we:k(Te),se=m[V];Se==we?se!=null?(R=se,I==null?(x(U,Se,H(R)),ee=I=F=R):R<I?I=R:R>F&&(F=R)):se===" +
  "null&&(Q=!0):(I!=null&&q(U,we,H(I),H(F),H(ee),H(R)),se!=null?(R=se,x(U,Se,H(R)),I=F=ee=R):(I=F=null,se===null&" +
  "&(Q=!0)),we=Se,J=C(we+P))}I!=null&&I!=F&&Ue!=we&&q(U,we,H(I),H(F),H(ee),H(R))}else for(let C=P==1?s:c;C>=s&&C<" +
  "=c;C+=P){let I=m[C];I===null?Q=!0:I!=null&&x(U,k(h[C]),H(I))}let[b,j]=mi(o,n);if(u.fill!=null||b!=0){let C=$.f" +
  "ill=new Path2D(U),I=u.fillTo(o,n,u.min,u.max,b),F=H(I),ee=k(h[s]),R=k(h[c]);P==-1&&([R,ee]=[ee,R]),x(C,R,F),x(" +
  "C,ee,F)}if(!u.spanGaps){let C=[];Q&&C.push(...di(h,m,s,c,P,k,l)),$.gaps=C=u.gaps(o,n,s,c,C),$.clip=hn(C,d.ori," +
  "L,D,O,N)}return j!=0&&($.band=j==2?[Dt(o,n,s,c,U,-1),Dt(o,n,s,c,U,1)]:Dt(o,n,s,c,U,j)),$})}function Vf(e){let " +
  "l=ne(e.align,1),o=ne(e.ascDesc,!1),n=ne(e.alignGaps,0),s=ne(e.extend,!1);return(c,u,h,m)=>el(c,u,(d,y,g,w,L,D," +
  "O,N,G,k,H)=>{[h,m]=un(g,h,m);let x=d.pxRound,{left:q,width:P}=c.bbox,$=te=>x(D(te,w,k,N)),U=te=>x(O(te,L,H,G))" +
  ",Q=w.ori==0?Al:Pl,B={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Ml},b=B.stroke,j=w.dir*(w" +
  ".ori==0?1:-1),C=U(g[j==1?h:m]),I=$(y[j==1?h:m]),F=I,ee=I;s&&l==-1&&(ee=q,Q(b,ee,C)),Q(b,I,C);for(let te=j==1?h" +
  ":m;te>=h&&te<=m;te+=j){let fe=g[te];if(fe==null)continue;let J=$(y[te]),V=U(fe);l==1?Q(b,J,C):Q(b,F,V),Q(b,J,V" +
  "),C=V,F=J}let R=F;s&&l==1&&(R=q+P,Q(b,R,C));let[Ue,we]=mi(c,u);if(d.fill!=null||Ue!=0){let te=B.fill=new Path2" +
  "D(b),fe=d.fillTo(c,u,d.min,d.max,Ue),J=U(fe);Q(te,R,J),Q(te,ee,J)}if(!d.spanGaps){let te=[];te.push(...di(y,g," +
  "h,m,j,$,n));let fe=d.width*oe/2,J=o||l==1?fe:-fe,V=o||l==-1?-fe:fe;te.forEach(Te=>{Te[0]+=J,Te[1]+=V}),B.gaps=" +
  "te=d.gaps(c,u,h,m,te),B.clip=hn(te,w.ori,N,G,k,H)}return we!=0&&(B.band=we==2?[Dt(c,u,h,m,b,-1),Dt(c,u,h,m,b,1" +
  ")]:Dt(c,u,h,m,b,we)),B})}function Do(e,l,o,n,s,c,u=ce){if(e.length>1){let h=null;for(let m=0,d=1/0;m<e.length;" +
  "m++)if(l[m]!==void 0){if(h!=null){let y=Ae(e[m]-e[h]);y<d&&(d=y,u=Ae(o(e[m],n,s,c)-o(e[h],n,s,c)))}h=m}}return" +
  " u}function zf(e){e=e||Yl;let l=ne(e.size,[.6,ce,1]),o=e.align||0,n=e.gap||0,s=e.radius;s=s==null?[0,0]:typeof" +
  " s==\"number\"?[s,0]:s;let c=X(s),u=1-l[0],h=ne(l[1],ce),m=ne(l[2],1),d=ne(e.disp,Yl),y=ne(e.each,L=>{}),{fill:g" +
  ",stroke:w}=d;return(L,D,O,N)=>el(L,D,(G,k,H,x,q,P,$,U,Q,B,b)=>{let j=G.pxRound,C=o,I=n*oe,F=h*oe,ee=m*oe,R,Ue;" +
  "x.ori==0?[R,Ue]=c(L,D):[Ue,R]=c(L,D);let we=x.dir*(x.ori==0?1:-1),te=x.ori==0?gn:gi,fe=x.ori==0?y:(E,pe,Me,il," +
  "Gt,_t,It)=>{y(E,pe,Me,Gt,il,It,_t)},J=ne(L.bands,ui).find(E=>E.series[0]==D),V=J!=null?J.dir:0,Te=G.fillTo(L,D" +
  ",G.min,G.max,V),Ne=j($(Te,q,b,Q)),Se,se,ct,qe=B,ye=j(G.width*oe),St=!1,Mt=null,lt=null,Lt=null,tl=null;g!=null" +
  "&&(ye==0||w!=null)&&(St=!0,Mt=g.values(L,D,O,N),lt=new Map,new Set(Mt).forEach(E=>{E!=null&&lt.set(E,new Path2" +
  "D)}),ye>0&&(Lt=w.values(L,D,O,N),tl=new Map,new Set(Lt).forEach(E=>{E!=null&&tl.set(E,new Path2D)})));let{x0:l" +
  "l,size:Dl}=d;if(ll!=null&&Dl!=null){C=1,k=ll.values(L,D,O,N),ll.unit==2&&(k=k.map(Me=>L.posToVal(U+Me*B,x.key," +
  "!0)));let E=Dl.values(L,D,O,N);Dl.unit==2?se=E[0]*B:se=P(E[0],x,B,U)-P(0,x,B,U),qe=Do(k,H,P,x,B,U,qe),ct=qe-se" +
  "+I}else qe=Do(k,H,P,x,B,U,qe),ct=qe*u+I,se=qe-ct;ct<1&&(ct=0),ye>=se/2&&(ye=0),ct<5&&(j=No);let Ul=ct>0,Nt=qe-" +
  "ct-(Ul?ye:0);se=j(Zn(Nt,ee,F)),Se=(C==0?se/2:C==we?0:se)-C*we*((C==0?I/2:0)+(Ul?ye/2:0));let We={stroke:null,f" +
  "ill:null,clip:null,band:null,gaps:null,flags:0},nl=St?null:new Path2D,Et=null;if(J!=null)Et=L.data[J.series[1]" +
  "];else{let{y0:E,y1:pe}=d;E!=null&&pe!=null&&(H=pe.values(L,D,O,N),Et=E.values(L,D,O,N))}let Wt=R*se,K=Ue*se;fo" +
  "r(let E=we==1?O:N;E>=O&&E<=N;E+=we){let pe=H[E];if(pe==null)continue;if(Et!=null){let Ke=Et[E]??0;if(pe-Ke==0)" +
  "continue;Ne=$(Ke,q,b,Q)}let Me=x.distr!=2||d!=null?k[E]:E,il=P(Me,x,B,U),Gt=$(ne(pe,Te),q,b,Q),_t=j(il-Se),It=" +
  "j(Be(Gt,Ne)),$e=j(wt(Gt,Ne)),nt=It-$e;if(pe!=null){let Ke=pe<0?K:Wt,at=pe<0?Wt:K;St?(ye>0&&Lt[E]!=null&&te(tl." +
  "get(Lt[E]),_t,$e+et(ye/2),se,Be(0,nt-ye),Ke,at),Mt[E]!=null&&te(lt.get(Mt[E]),_t,$e+et(ye/2),se,Be(0,nt-ye),Ke" +
  ",at)):te(nl,_t,$e+et(ye/2),se,Be(0,nt-ye),Ke,at),fe(L,D,E,_t-ye/2,$e,se+ye,nt)}}return ye>0?We.stroke=St?tl:nl" +
  ":St||(We._fill=G.width==0?G._fill:G._stroke??G._fill,We.width=0),We.fill=St?lt:nl,We})}function Rf(e,l){let o=" +
  "ne(l?.alignGaps,0);return(n,s,c,u)=>el(n,s,(h,m,d,y,g,w,L,D,O,N,G)=>{[c,u]=un(d,c,u);let k=h.pxRound,H=R=>k(w(" +
  "R,y,N,D)),x=R=>k(L(R,g,G,O)),q,P,$;y.ori==0?(q=mn,$=Al,P=ps):(q=dn,$=Pl,P=hs);let U=y.dir*(y.ori==0?1:-1),Q=H(" +
  "m[U==1?c:u]),B=Q,b=[],j=[];for(let R=U==1?c:u;R>=c&&R<=u;R+=U)if(d[R]!=null){let we=m[R],te=H(we);b.push(B=te)" +
  ",j.push(x(d[R]))}let C={stroke:e(b,j,q,$,P,k),fill:null,clip:null,band:null,gaps:null,flags:Ml},I=C.stroke,[F," +
  "ee]=mi(n,s);if(h.fill!=null||F!=0){let R=C.fill=new Path2D(I),Ue=h.fillTo(n,s,h.min,h.max,F),we=x(Ue);$(R,B,we" +
  "),$(R,Q,we)}if(!h.spanGaps){let R=[];R.push(...di(m,d,c,u,U,H,o)),C.gaps=R=h.gaps(n,s,c,u,R),C.clip=hn(R,y.ori" +
  ",D,O,N,G)}return ee!=0&&(C.band=ee==2?[Dt(n,s,c,u,I,-1),Dt(n,s,c,u,I,1)]:Dt(n,s,c,u,I,ee)),C})}function Ff(e){" +
  "return Rf(Of,e)}function Of(e,l,o,n,s,c){let u=e.length;if(u<2)return null;let h=new Path2D;if(o(h,e[0],l[0])," +
  "u==2)n(h,e[1],l[1]);else{let m=Array(u),d=Array(u-1),y=Array(u-1),g=Array(u-1);for(let w=0;w<u-1;w++)y[w]=l[w+" +
  "1]-l[w],g[w]=e[w+1]-e[w],d[w]=y[w]/g[w];m[0]=d[0];for(let w=1;w<u-1;w++)d[w]===0||d[w-1]===0||d[w-1]>0!=d[w]>0" +
  "?m[w]=0:(m[w]=3*(g[w-1]+g[w])/((2*g[w]+g[w-1])/d[w-1]+(g[w]+2*g[w-1])/d[w]),isFinite(m[w])||(m[w]=0));m[u-1]=d" +
  "[u-2];for(let w=0;w<u-1;w++)s(h,e[w]+g[w]/3,l[w]+m[w]*g[w]/3,e[w+1]-g[w]/3,l[w+1]-m[w+1]*g[w]/3,e[w+1],l[w+1])" +
  "}return h}var ti=new Set;function Lo(){for(let e of ti)e.syncRect(!0)}El&&(Qt(gr,kl,Lo),Qt(wr,kl,Lo,!0),Qt(sn," +
  "kl,()=>{Re.pxRatio=oe}));var Hf=gs(),Nf=ms();function Co(e,l,o,n){return(n?[e[0],e[1]].concat(e.slice(2)):[e[0" +
  "]].concat(e.slice(1))).map((c,u)=>li(c,u,l,o))}function Wf(e,l){return e.map((o,n)=>n==0?{}:be({},l,o))}functi" +
  "on li(e,l,o,n){return be({},l==0?o:n,e)}function ws(e,l,o){return l==null?bl:[l,o]}var Gf=ws;function If(e,l,o" +
  "){return l==null?bl:rn(l,o,ri,!0)}function Ss(e,l,o,n){return l==null?bl:cn(l,o,e.scales[n].log,!1)}var Yf=Ss;" +
  "function _s(e,l,o,n){return l==null?bl:si(l,o,e.scales[n].log,!1)}var Bf=_s;function Uf(e,l,o,n,s){let c=Be(uo" +
  "(e),uo(l)),u=l-e,h=gt(s/n*u,o);do{let m=o[h],d=n*m/u;if(d>=s&&c+(m<5?Ht.get(m):0)<=17)return[m,d]}while(++h<o." +
  "length);return[0,0]}function Vo(e){let l,o;return e=e.replace(/(\\d+)px/,(n,s)=>(l=Ee((o=+s)*oe))+\"px\"),[e,l,o]" +
  "}function Kf(e){e.show&&[e.font,e.labelFont].forEach(l=>{let o=ae(l[2]*oe,1);l[0]=l[0].replace(/[0-9.]+px/,o+\"" +
  "px\"),l[1]=o})}function Re(e,l,o){let n={mode:ne(e.mode,1)},s=n.mode;function c(t,i,r,f){let a=i.valToPct(t);re" +
  "turn f+r*(i.dir==-1?1-a:a)}function u(t,i,r,f){let a=i.valToPct(t);return f+r*(i.dir==-1?a:1-a)}function h(t,i" +
  ",r,f){return i.ori==0?c(t,i,r,f):u(t,i,r,f)}n.valToPosH=c,n.valToPosV=u;let m=!1;n.status=0;let d=n.root=ft(Qs" +
  ");if(e.id!=null&&(d.id=e.id),Xe(d,e.class),e.title){let t=ft(tr,d);t.textContent=e.title}let y=dt(\"canvas\"),g=" +
  "n.ctx=y.getContext(\"2d\"),w=ft(lr,d);Qt(\"click\",w,t=>{t.target===D&&(he!=dl||_e!=gl)&&Oe.click(n,t)},!0);let L=" +
  "n.under=ft(nr,w);w.appendChild(y);let D=n.over=ft(ir,w);e=Tl(e);let O=+ne(e.pxAlign,1),N=Po(O);(e.plugins||[])" +
  ".forEach(t=>{t.opts&&(e=t.opts(n,e)||e)});let G=e.ms||.001,k=n.series=s==1?Co(e.series||[],ko,Eo,!1):Wf(e.seri" +
  "es||[null],Mo),H=n.axes=Co(e.axes||[],vo,bo,!0),x=n.scales={},q=n.bands=e.bands||[];q.forEach(t=>{t.fill=X(t.f" +
  "ill||null),t.dir=ne(t.dir,-1)});let P=s==2?k[1].facets[0].scale:k[0].scale,$={axes:Os,series:Cs},U=(e.drawOrde" +
  "r||[\"axes\",\"series\"]).map(t=>$[t]);function Q(t){let i=t.distr==3?r=>Pt(r>0?r:t.clamp(n,r,t.min,t.max,t.key)):" +
  "t.distr==4?r=>Yn(r,t.asinh):t.distr==100?r=>t.fwd(r):r=>r;return r=>{let f=i(r),{_min:a,_max:p}=t,S=p-a;return" +
  "(f-a)/S}}function B(t){let i=x[t];if(i==null){let r=(e.scales||Yl)[t]||Yl;if(r.from!=null){B(r.from);let f=be(" +
  "{},x[r.from],r,{key:t});f.valToPct=Q(f),x[t]=f}else{i=x[t]=be({},t==P?rs:Af,r),i.key=t;let f=i.time,a=i.range," +
  "p=Ot(a);if((t!=P||s==2&&!f)&&(p&&(a[0]==null||a[1]==null)&&(a={min:a[0]==null?so:{mode:1,hard:a[0],soft:a[0]}," +
  "max:a[1]==null?so:{mode:1,hard:a[1],soft:a[1]}},p=!1),!p&&pn(a))){let S=a;a=(_,v,T)=>v==null?bl:rn(v,T,S)}i.ra" +
  "nge=X(a||(f?Gf:t==P?i.distr==3?Yf:i.distr==4?Bf:ws:i.distr==3?Ss:i.distr==4?_s:If)),i.auto=X(p?!1:i.auto),i.cl" +
  "amp=X(i.clamp||Ef),i._min=i._max=null,i.valToPct=Q(i)}}}B(\"x\"),B(\"y\"),s==1&&k.forEach(t=>{B(t.scale)}),H.forEa" +
  "ch(t=>{B(t.scale)});for(let t in e.scales)B(t);let b=x[P],j=b.distr,C,I;b.ori==0?(Xe(d,Xs),C=c,I=u):(Xe(d,er)," +
  "C=u,I=c);let F={};for(let t in x){let i=x[t];(i.min!=null||i.max!=null)&&(F[t]={min:i.min,max:i.max},i.min=i.m" +
  "ax=null)}let ee=e.tzDate||(t=>new Date(Ee(t/G))),R=e.fmtDate||ci,Ue=G==1?Xr(ee):lf(ee),we=So(ee,wo(G==1?Qr:tf," +
  "R)),te=yo(ee,_o(of,R)),fe=[],J=n.legend=be({},ff,e.legend),V=n.cursor=be({},mf,{drag:{y:s==2}},e.cursor),Te=J." +
  "show,Ne=V.show,Se=J.markers;J.idxs=fe,Se.width=X(Se.width),Se.dash=X(Se.dash),Se.stroke=X(Se.stroke),Se.fill=X" +
  "(Se.fill);let se,ct,qe,ye=[],St=[],Mt,lt=!1,Lt={};if(J.live){let t=k[1]?k[1].values:null;lt=t!=null,Mt=lt?t(n," +
  "1,0):{_:0};for(let i in Mt)Lt[i]=ii}if(Te)if(se=dt(\"table\",cr,d),qe=dt(\"tbody\",null,se),J.mount(n,se),lt){ct=d" +
  "t(\"thead\",null,se,qe);let t=dt(\"tr\",null,ct);dt(\"th\",null,t);for(var tl in Mt)dt(\"th\",ji,t).textContent=tl}els" +
  "e Xe(se,pr),J.live&&Xe(se,ar);let ll={show:!0},Dl={show:!1};function Ul(t,i){if(i==0&&(lt||!J.live||s==2))retu" +
  "rn bl;let r=[],f=dt(\"tr\",hr,qe,qe.childNodes[i]);Xe(f,t.class),t.show||Xe(f,Zt);let a=dt(\"th\",null,f);if(Se.sh" +
  "ow){let _=ft(mr,a);if(i>0){let v=Se.width(n,i);v&&(_.style.border=v+\"px \"+Se.dash(n,i)+\" \"+Se.stroke(n,i)),_.s" +
  "tyle.background=Se.fill(n,i)}}let p=ft(ji,a);t.label instanceof HTMLElement?p.appendChild(t.label):p.textConte" +
  "nt=t.label,i>0&&(Se.show||(p.style.color=t.width>0?Se.stroke(n,i):Se.fill(n,i)),We(\"click\",a,_=>{if(V._lock)re" +
  "turn;Bt(_);let v=k.indexOf(t);if((_.ctrlKey||_.metaKey)!=J.isolate){let T=k.some((M,A)=>A>0&&A!=v&&M.show);k.f" +
  "orEach((M,A)=>{A>0&&vt(A,T?A==v?ll:Dl:ll,!0,xe.setSeries)})}else vt(v,{show:!t.show},!0,xe.setSeries)},!1),sl&" +
  "&We(Zi,a,_=>{V._lock||(Bt(_),vt(k.indexOf(t),Sl,!0,xe.setSeries))},!1));for(var S in Mt){let _=dt(\"td\",dr,f);_" +
  ".textContent=\"--\",r.push(_)}return[f,r]}let Nt=new Map;function We(t,i,r,f=!0){let a=Nt.get(i)||{},p=V.bind[t]" +
  "(n,i,r,f);p&&(Qt(t,i,a[t]=p),Nt.set(i,a))}function nl(t,i,r){let f=Nt.get(i)||{};for(let a in f)(t==null||a==t" +
  ")&&(Jn(a,i,f[a]),delete f[a]);t==null&&Nt.delete(i)}let Et=0,Wt=0,K=0,E=0,pe=0,Me=0,il=pe,Gt=Me,_t=K,It=E,$e=0" +
  ",nt=0,Ke=0,at=0;n.bbox={};let wn=!1,Kl=!1,ol=!1,Yt=!1,jl=!1,it=!1;function Sn(t,i,r){(r||t!=n.width||i!=n.heig" +
  "ht)&&wi(t,i),al(!1),ol=!0,Kl=!0,pl()}function wi(t,i){n.width=Et=K=t,n.height=Wt=E=i,pe=Me=0,Ts(),Ms();let r=n" +
  ".bbox;$e=r.left=$t(pe*oe,.5),nt=r.top=$t(Me*oe,.5),Ke=r.width=$t(K*oe,.5),at=r.height=$t(E*oe,.5)}let ks=3;fun" +
  "ction xs(){let t=!1,i=0;for(;!t;){i++;let r=Rs(i),f=Fs(i);t=i==ks||r&&f,t||(wi(n.width,n.height),Kl=!0)}}funct" +
  "ion bs({width:t,height:i}){Sn(t,i)}n.setSize=bs;function Ts(){let t=!1,i=!1,r=!1,f=!1;H.forEach((a,p)=>{if(a.s" +
  "how&&a._show){let{side:S,_size:_}=a,v=S%2,T=a.label!=null?a.labelSize:0,M=_+T;M>0&&(v?(K-=M,S==3?(pe+=M,f=!0):" +
  "r=!0):(E-=M,S==0?(Me+=M,t=!0):i=!0))}}),Ut[0]=t,Ut[1]=r,Ut[2]=i,Ut[3]=f,K-=Ct[1]+Ct[3],pe+=Ct[3],E-=Ct[2]+Ct[0" +
  "],Me+=Ct[0]}function Ms(){let t=pe+K,i=Me+E,r=pe,f=Me;function a(p,S){switch(p){case 1:return t+=S,t-S;case 2:" +
  "return i+=S,i-S;case 3:return r-=S,r+S;case 0:return f-=S,f+S}}H.forEach((p,S)=>{if(p.show&&p._show){let _=p.s" +
  "ide;p._pos=a(_,p._size),p.label!=null&&(p._lpos=a(_,p.labelSize))}})}if(V.dataIdx==null){let t=V.hover,i=t.ski" +
  "p=new Set(t.skip??[]);i.add(void 0);let r=t.prox=X(t.prox),f=t.bias??=0;V.dataIdx=(a,p,S,_)=>{if(p==0)return S" +
  ";let v=S,T=r(a,p,S,_)??ce,M=T>=0&&T<ce,A=b.ori==0?K:E,Y=V.left,ie=l[0],le=l[p];if(i.has(le[S])){v=null;let Z=n" +
  "ull,W=null,z;if(f==0||f==-1)for(z=S;Z==null&&z-- >0;)i.has(le[z])||(Z=z);if(f==0||f==1)for(z=S;W==null&&z++<le" +
  ".length;)i.has(le[z])||(W=z);if(Z!=null||W!=null)if(M){let de=Z==null?-1/0:C(ie[Z],b,A,0),ve=W==null?1/0:C(ie[" +
  "W],b,A,0),ze=Y-de,ue=ve-Y;ze<=ue?ze<=T&&(v=Z):ue<=T&&(v=W)}else v=W==null?Z:Z==null?W:S-Z<=W-S?Z:W}else M&&Ae(" +
  "Y-C(ie[S],b,A,0))>T&&(v=null);return v}}let Bt=t=>{V.event=t};V.idxs=fe,V._lock=!1;let He=V.points;He.show=X(H" +
  "e.show),He.size=X(He.size),He.stroke=X(He.stroke),He.width=X(He.width),He.fill=X(He.fill);let yt=n.focus=be({}" +
  ",e.focus||{alpha:.3},V.focus),sl=yt.prox>=0,rl=sl&&He.one,ot=[],fl=[],ul=[];function Si(t,i){let r=He.show(n,i" +
  ");if(r instanceof HTMLElement)return Xe(r,ur),Xe(r,t.class),Tt(r,-10,-10,K,E),D.insertBefore(r,ot[i]),r}functi" +
  "on _i(t,i){if(s==1||i>0){let r=s==1&&x[t.scale].time,f=t.value;t.value=r?po(f)?yo(ee,_o(f,R)):f||te:f||bf,t.la" +
  "bel=t.label||(r?gf:df)}if(rl||i>0){t.width=t.width==null?1:t.width,t.paths=t.paths||Hf||Er,t.fillTo=X(t.fillTo" +
  "||Pf),t.pxAlign=+ne(t.pxAlign,O),t.pxRound=Po(t.pxAlign),t.stroke=X(t.stroke||null),t.fill=X(t.fill||null),t._" +
  "stroke=t._fill=t._paths=t._focus=null;let r=Tf(Be(1,t.width),1),f=t.points=be({},{size:r,width:Be(1,r*.2),stro" +
  "ke:t.stroke,space:r*2,paths:Nf,_stroke:null,_fill:null},t.points);f.show=X(f.show),f.filter=X(f.filter),f.fill" +
  "=X(f.fill),f.stroke=X(f.stroke),f.paths=X(f.paths),f.pxAlign=t.pxAlign}if(Te){let r=Ul(t,i);ye.splice(i,0,r[0]" +
  "),St.splice(i,0,r[1]),J.values.push(null)}if(Ne){fe.splice(i,0,null);let r=null;rl?i==0&&(r=Si(t,i)):i>0&&(r=S" +
  "i(t,i)),ot.splice(i,0,r),fl.splice(i,0,0),ul.splice(i,0,0)}Ve(\"addSeries\",i)}function Es(t,i){i=i??k.length,t=" +
  "s==1?li(t,i,ko,Eo):li(t,i,{},Mo),k.splice(i,0,t),_i(k[i],i)}n.addSeries=Es;function As(t){if(k.splice(t,1),Te)" +
  "{J.values.splice(t,1),St.splice(t,1);let i=ye.splice(t,1)[0];nl(null,i.firstChild),i.remove()}Ne&&(fe.splice(t" +
  ",1),ot.splice(t,1)[0].remove(),fl.splice(t,1),ul.splice(t,1)),Ve(\"delSeries\",t)}n.delSeries=As;let Ut=[!1,!1,!" +
  "1,!1];function Ps(t,i){if(t._show=t.show,t.show){let r=t.side%2,f=x[t.scale];f==null&&(t.scale=r?k[1].scale:P," +
  "f=x[t.scale]);let a=f.time;t.size=X(t.size),t.space=X(t.space),t.rotate=X(t.rotate),Ot(t.incrs)&&t.incrs.forEa" +
  "ch(S=>{!Ht.has(S)&&Ht.set(S,Io(S))}),t.incrs=X(t.incrs||(f.distr==2?$r:a?G==1?Zr:ef:Jt)),t.splits=X(t.splits||" +
  "(a&&f.distr==1?Ue:f.distr==3?Qn:f.distr==4?_f:Sf)),t.stroke=X(t.stroke),t.grid.stroke=X(t.grid.stroke),t.ticks" +
  ".stroke=X(t.ticks.stroke),t.border.stroke=X(t.border.stroke);let p=t.values;t.values=Ot(p)&&!Ot(p[0])?X(p):a?O" +
  "t(p)?So(ee,wo(p,R)):po(p)?nf(ee,p):p||we:p||wf,t.filter=X(t.filter||(f.distr>=3&&f.log==10?kf:f.distr==3&&f.lo" +
  "g==2?xf:Wo)),t.font=Vo(t.font),t.labelFont=Vo(t.labelFont),t._size=t.size(n,null,i,0),t._space=t._rotate=t._in" +
  "crs=t._found=t._splits=t._values=null,t._size>0&&(Ut[i]=!0,t._el=ft(or,w))}}function Ll(t,i,r,f){let[a,p,S,_]=" +
  "r,v=i%2,T=0;return v==0&&(_||p)&&(T=i==0&&!a||i==2&&!S?Ee(vo.size/3):0),v==1&&(a||S)&&(T=i==1&&!p||i==3&&!_?Ee" +
  "(bo.size/2):0),T}let yi=n.padding=(e.padding||[Ll,Ll,Ll,Ll]).map(t=>X(ne(t,Ll))),Ct=n._padding=yi.map((t,i)=>t" +
  "(n,i,Ut,0)),Fe,Pe=null,De=null,ql=s==1?k[0].idxs:null,pt=null,Cl=!1;function vi(t,i){if(l=t??[],n.data=n._data" +
  "=l,s==2){Fe=0;for(let r=1;r<k.length;r++)Fe+=l[r][0].length}else{l.length==0&&(n.data=n._data=l=[[]]),pt=l[0]," +
  "Fe=pt.length;let r=l;if(j==2){r=l.slice();let f=r[0]=Array(Fe);for(let a=0;a<Fe;a++)f[a]=a}n._data=l=r}if(al(!" +
  "0),Ve(\"setData\"),j==2&&(ol=!0),i!==!1){let r=b;r.auto(n,Cl)?_n():zt(P,r.min,r.max),Yt=Yt||V.left>=0,it=!0,pl()" +
  "}}n.setData=vi;function _n(){Cl=!0;let t,i;s==1&&(Fe>0?(Pe=ql[0]=0,De=ql[1]=Fe-1,t=l[0][Pe],i=l[0][De],j==2?(t" +
  "=Pe,i=De):t==i&&(j==3?[t,i]=cn(t,t,b.log,!1):j==4?[t,i]=si(t,t,b.log,!1):b.time?i=t+Ee(86400/G):[t,i]=rn(t,i,r" +
  "i,!0))):(Pe=ql[0]=t=null,De=ql[1]=i=null)),zt(P,t,i)}let $l,cl,yn,vn,kn,xn,bn,Tn,Mn,je;function ki(t,i,r,f,a,p" +
  "){t??=$i,r??=ui,f??=\"butt\",a??=$i,p??=\"round\",t!=$l&&(g.strokeStyle=$l=t),a!=cl&&(g.fillStyle=cl=a),i!=yn&&(g." +
  "lineWidth=yn=i),p!=kn&&(g.lineJoin=kn=p),f!=xn&&(g.lineCap=xn=f),r!=vn&&g.setLineDash(vn=r)}function xi(t,i,r," +
  "f){i!=cl&&(g.fillStyle=cl=i),t!=bn&&(g.font=bn=t),r!=Tn&&(g.textAlign=Tn=r),f!=Mn&&(g.textBaseline=Mn=f)}funct" +
  "ion En(t,i,r,f,a=0){if(f.length>0&&t.auto(n,Cl)&&(i==null||i.min==null)){let p=ne(Pe,0),S=ne(De,f.length-1),_=" +
  "r.min==null?vr(f,p,S,a,t.distr==3):[r.min,r.max];t.min=wt(t.min,r.min=_[0]),t.max=Be(t.max,r.max=_[1])}}let bi" +
  "={min:null,max:null};function Ds(){for(let f in x){let a=x[f];F[f]==null&&(a.min==null||F[P]!=null&&a.auto(n,C" +
  "l))&&(F[f]=bi)}for(let f in x){let a=x[f];F[f]==null&&a.from!=null&&F[a.from]!=null&&(F[f]=bi)}F[P]!=null&&al(" +
  "!0);let t={};for(let f in F){let a=F[f];if(a!=null){let p=t[f]=Tl(x[f],Dr);if(a.min!=null)be(p,a);else if(f!=P" +
  "||s==2)if(Fe==0&&p.from==null){let S=p.range(n,null,null,f);p.min=S[0],p.max=S[1]}else p.min=ce,p.max=-ce}}if(" +
  "Fe>0){k.forEach((f,a)=>{if(s==1){let p=f.scale,S=F[p];if(S==null)return;let _=t[p];if(a==0){let v=_.range(n,_." +
  "min,_.max,p);_.min=v[0],_.max=v[1],Pe=gt(_.min,l[0]),De=gt(_.max,l[0]),De-Pe>1&&(l[0][Pe]<_.min&&Pe++,l[0][De]" +
  ">_.max&&De--),f.min=pt[Pe],f.max=pt[De]}else f.show&&f.auto&&En(_,S,f,l[a],f.sorted);f.idxs[0]=Pe,f.idxs[1]=De" +
  "}else if(a>0&&f.show&&f.auto){let[p,S]=f.facets,_=p.scale,v=S.scale,[T,M]=l[a],A=t[_],Y=t[v];A!=null&&En(A,F[_" +
  "],p,T,p.sorted),Y!=null&&En(Y,F[v],S,M,S.sorted),f.min=S.min,f.max=S.max}});for(let f in t){let a=t[f],p=F[f];" +
  "if(a.from==null&&(p==null||p.min==null)){let S=a.range(n,a.min==ce?null:a.min,a.max==-ce?null:a.max,f);a.min=S" +
  "[0],a.max=S[1]}}}for(let f in t){let a=t[f];if(a.from!=null){let p=t[a.from];if(p.min==null)a.min=a.max=null;e" +
  "lse{let S=a.range(n,p.min,p.max,f);a.min=S[0],a.max=S[1]}}}let i={},r=!1;for(let f in t){let a=t[f],p=x[f];if(" +
  "p.min!=a.min||p.max!=a.max){p.min=a.min,p.max=a.max;let S=p.distr;p._min=S==3?Pt(p.min):S==4?Yn(p.min,p.asinh)" +
  ":S==100?p.fwd(p.min):p.min,p._max=S==3?Pt(p.max):S==4?Yn(p.max,p.asinh):S==100?p.fwd(p.max):p.max,i[f]=r=!0}}i" +
  "f(r){k.forEach((f,a)=>{s==2?a>0&&i.y&&(f._paths=null):i[f.scale]&&(f._paths=null)});for(let f in i)ol=!0,Ve(\"s" +
  "etScale\",f);Ne&&V.left>=0&&(Yt=it=!0)}for(let f in F)F[f]=null}function Ls(t){let i=Zn(Pe-1,0,Fe-1),r=Zn(De+1," +
  "0,Fe-1);for(;t[i]==null&&i>0;)i--;for(;t[r]==null&&r<Fe-1;)r++;return[i,r]}function Cs(){if(Fe>0){let t=k.some" +
  "(i=>i._focus)&&je!=yt.alpha;t&&(g.globalAlpha=je=yt.alpha),k.forEach((i,r)=>{if(r>0&&i.show&&(Ti(r,!1),Ti(r,!0" +
  "),i._paths==null)){let f=je;je!=i.alpha&&(g.globalAlpha=je=i.alpha);let a=s==2?[0,l[r][0].length-1]:Ls(l[r]);i" +
  "._paths=i.paths(n,r,a[0],a[1]),je!=f&&(g.globalAlpha=je=f)}}),k.forEach((i,r)=>{if(r>0&&i.show){let f=je;je!=i" +
  ".alpha&&(g.globalAlpha=je=i.alpha),i._paths!=null&&Mi(r,!1);{let a=i._paths!=null?i._paths.gaps:null,p=i.point" +
  "s.show(n,r,Pe,De,a),S=i.points.filter(n,r,p,a);(p||S)&&(i.points._paths=i.points.paths(n,r,Pe,De,S),Mi(r,!0))}" +
  "je!=f&&(g.globalAlpha=je=f),Ve(\"drawSeries\",r)}}),t&&(g.globalAlpha=je=1)}}function Ti(t,i){let r=i?k[t].point" +
  "s:k[t];r._stroke=r.stroke(n,t),r._fill=r.fill(n,t)}function Mi(t,i){let r=i?k[t].points:k[t],{stroke:f,fill:a," +
  "clip:p,flags:S,_stroke:_=r._stroke,_fill:v=r._fill,_width:T=r.width}=r._paths;T=ae(T*oe,3);let M=null,A=T%2/2;" +
  "i&&v==null&&(v=T>0?\"#fff\":_);let Y=r.pxAlign==1&&A>0;if(Y&&g.translate(A,A),!i){let ie=$e-T/2,le=nt-T/2,Z=Ke+T" +
  ",W=at+T;M=new Path2D,M.rect(ie,le,Z,W)}i?An(_,T,r.dash,r.cap,v,f,a,S,p):Vs(t,_,T,r.dash,r.cap,v,f,a,S,M,p),Y&&" +
  "g.translate(-A,-A)}function Vs(t,i,r,f,a,p,S,_,v,T,M){let A=!1;v!=0&&q.forEach((Y,ie)=>{if(Y.series[0]==t){let" +
  " le=k[Y.series[1]],Z=l[Y.series[1]],W=(le._paths||Yl).band;Ot(W)&&(W=Y.dir==1?W[0]:W[1]);let z,de=null;le.show" +
  "&&W&&xr(Z,Pe,De)?(de=Y.fill(n,ie)||p,z=le._paths.clip):W=null,An(i,r,f,a,de,S,_,v,T,M,z,W),A=!0}}),A||An(i,r,f" +
  ",a,p,S,_,v,T,M)}let Ei=Ml|ei;function An(t,i,r,f,a,p,S,_,v,T,M,A){ki(t,i,r,f,a),(v||T||A)&&(g.save(),v&&g.clip" +
  "(v),T&&g.clip(T)),A?(_&Ei)==Ei?(g.clip(A),M&&g.clip(M),Zl(a,S),Jl(t,p,i)):_&ei?(Zl(a,S),g.clip(A),Jl(t,p,i)):_" +
  "&Ml&&(g.save(),g.clip(A),M&&g.clip(M),Zl(a,S),g.restore(),Jl(t,p,i)):(Zl(a,S),Jl(t,p,i)),(v||T||A)&&g.restore(" +
  ")}function Jl(t,i,r){r>0&&(i instanceof Map?i.forEach((f,a)=>{g.strokeStyle=$l=a,g.stroke(f)}):i!=null&&t&&g.s" +
  "troke(i))}function Zl(t,i){i instanceof Map?i.forEach((r,f)=>{g.fillStyle=cl=f,g.fill(r)}):i!=null&&t&&g.fill(" +
  "i)}function zs(t,i,r,f){let a=H[t],p;if(f<=0)p=[0,0];else{let S=a._space=a.space(n,t,i,r,f),_=a._incrs=a.incrs" +
  "(n,t,i,r,f,S);p=Uf(i,r,_,f,S)}return a._found=p}function Pn(t,i,r,f,a,p,S,_,v,T){let M=S%2/2;O==1&&g.translate" +
  "(M,M),ki(_,S,v,T,_),g.beginPath();let A,Y,ie,le,Z=a+(f==0||f==3?-p:p);r==0?(Y=a,le=Z):(A=a,ie=Z);for(let W=0;W" +
  "<t.length;W++)i[W]!=null&&(r==0?A=ie=t[W]:Y=le=t[W],g.moveTo(A,Y),g.lineTo(ie,le));g.stroke(),O==1&&g.translat" +
  "e(-M,-M)}function Rs(t){let i=!0;return H.forEach((r,f)=>{if(!r.show)return;let a=x[r.scale];if(a.min==null){r" +
  "._show&&(i=!1,r._show=!1,al(!1));return}else r._show||(i=!1,r._show=!0,al(!1));let p=r.side,S=p%2,{min:_,max:v" +
  "}=a,[T,M]=zs(f,_,v,S==0?K:E);if(M==0)return;let A=a.distr==2,Y=r._splits=r.splits(n,f,_,v,T,M,A),ie=a.distr==2" +
  "?Y.map(z=>pt[z]):Y,le=a.distr==2?pt[Y[1]]-pt[Y[0]]:T,Z=r._values=r.values(n,r.filter(n,ie,f,M,le),f,M,le);r._r" +
  "otate=p==2?r.rotate(n,Z,f,M):0;let W=r._size;r._size=ut(r.size(n,Z,f,t)),W!=null&&r._size!=W&&(i=!1)}),i}funct" +
  "ion Fs(t){let i=!0;return yi.forEach((r,f)=>{let a=r(n,f,Ut,t);a!=Ct[f]&&(i=!1),Ct[f]=a}),i}function Os(){for(" +
  "let t=0;t<H.length;t++){let i=H[t];if(!i.show||!i._show)continue;let r=i.side,f=r%2,a,p,S=i.stroke(n,t),_=r==0" +
  "||r==3?-1:1,[v,T]=i._found;if(i.label!=null){let Ie=i.labelGap*_,Qe=Ee((i._lpos+Ie)*oe);xi(i.labelFont[0],S,\"c" +
  "enter\",r==2?\"top\":qi),g.save(),f==1?(a=p=0,g.translate(Qe,Ee(nt+at/2)),g.rotate((r==3?-on:on)/2)):(a=Ee($e+Ke/" +
  "2),p=Qe);let qt=Ho(i.label)?i.label(n,t,v,T):i.label;g.fillText(qt,a,p),g.restore()}if(T==0)continue;let M=x[i" +
  ".scale],A=f==0?Ke:at,Y=f==0?$e:nt,ie=i._splits,le=M.distr==2?ie.map(Ie=>pt[Ie]):ie,Z=M.distr==2?pt[ie[1]]-pt[i" +
  "e[0]]:v,W=i.ticks,z=i.border,de=W.show?W.size:0,ve=Ee(de*oe),ze=Ee((i.alignTo==2?i._size-de-i.gap:i.gap)*oe),u" +
  "e=i._rotate*-on/180,ke=N(i._pos*oe),Je=(ve+ze)*_,Ge=ke+Je;p=f==0?Ge:0,a=f==1?Ge:0;let st=i.font[0],ht=i.align=" +
  "=1?yl:i.align==2?Wn:ue>0?yl:ue<0?Wn:f==0?\"center\":r==3?Wn:yl,xt=ue||f==1?\"middle\":r==2?\"top\":qi;xi(st,S,ht,xt)" +
  ";let Ze=i.font[1]*i.lineGap,rt=ie.map(Ie=>N(h(Ie,M,A,Y))),mt=i._values;for(let Ie=0;Ie<mt.length;Ie++){let Qe=" +
  "mt[Ie];if(Qe!=null){f==0?a=rt[Ie]:p=rt[Ie],Qe=\"\"+Qe;let qt=Qe.indexOf(`\n`)==-1?[Qe]:Qe.split(/\\n/gm);for(let Y" +
  "e=0;Ye<qt.length;Ye++){let Ki=qt[Ye];ue?(g.save(),g.translate(a,p+Ye*Ze),g.rotate(ue),g.fillText(Ki,0,0),g.res" +
  "tore()):g.fillText(Ki,a,p+Ye*Ze)}}}W.show&&Pn(rt,W.filter(n,le,t,T,Z),f,r,ke,ve,ae(W.width*oe,3),W.stroke(n,t)" +
  ",W.dash,W.cap);let bt=i.grid;bt.show&&Pn(rt,bt.filter(n,le,t,T,Z),f,f==0?2:1,f==0?nt:$e,f==0?at:Ke,ae(bt.width" +
  "*oe,3),bt.stroke(n,t),bt.dash,bt.cap),z.show&&Pn([ke],[1],f==0?1:0,f==0?1:2,f==1?nt:$e,f==1?at:Ke,ae(z.width*o" +
  "e,3),z.stroke(n,t),z.dash,z.cap)}Ve(\"drawAxes\")}function al(t){k.forEach((i,r)=>{r>0&&(i._paths=null,t&&(s==1?" +
  "(i.min=null,i.max=null):i.facets.forEach(f=>{f.min=null,f.max=null})))})}let Ql=!1,Dn=!1,Vl=[];function Hs(){D" +
  "n=!1;for(let t=0;t<Vl.length;t++)Ve(...Vl[t]);Vl.length=0}function pl(){Ql||(Or(Ai),Ql=!0)}function Ns(t,i=!1)" +
  "{Ql=!0,Dn=i,t(n),Ai(),i&&Vl.length>0&&queueMicrotask(Hs)}n.batch=Ns;function Ai(){if(wn&&(Ds(),wn=!1),ol&&(xs(" +
  "),ol=!1),Kl){if(ge(L,yl,pe),ge(L,\"top\",Me),ge(L,Nl,K),ge(L,Wl,E),ge(D,yl,pe),ge(D,\"top\",Me),ge(D,Nl,K),ge(D,Wl" +
  ",E),ge(w,Nl,Et),ge(w,Wl,Wt),y.width=Ee(Et*oe),y.height=Ee(Wt*oe),H.forEach(({_el:t,_show:i,_size:r,_pos:f,side" +
  ":a})=>{if(t!=null)if(i){let p=a===3||a===0?r:0,S=a%2==1;ge(t,S?\"left\":\"top\",f-p),ge(t,S?\"width\":\"height\",r),ge" +
  "(t,S?\"top\":\"left\",S?Me:pe),ge(t,S?\"height\":\"width\",S?E:K),$n(t,Zt)}else Xe(t,Zt)}),$l=cl=yn=kn=xn=bn=Tn=Mn=vn=" +
  "null,je=1,Fl(!0),pe!=il||Me!=Gt||K!=_t||E!=It){al(!1);let t=K/_t,i=E/It;if(Ne&&!Yt&&V.left>=0){V.left*=t,V.top" +
  "*=i,hl&&Tt(hl,Ee(V.left),0,K,E),ml&&Tt(ml,0,Ee(V.top),K,E);for(let r=0;r<ot.length;r++){let f=ot[r];f!=null&&(" +
  "fl[r]*=t,ul[r]*=i,Tt(f,ut(fl[r]),ut(ul[r]),K,E))}}if(me.show&&!jl&&me.left>=0&&me.width>0){me.left*=t,me.width" +
  "*=t,me.top*=i,me.height*=i;for(let r in Fn)ge(wl,r,me[r])}il=pe,Gt=Me,_t=K,It=E}Ve(\"setSize\"),Kl=!1}Et>0&&Wt>0" +
  "&&(g.clearRect(0,0,y.width,y.height),Ve(\"drawClear\"),U.forEach(t=>t()),Ve(\"draw\")),me.show&&jl&&(Xl(me),jl=!1)" +
  ",Ne&&Yt&&(jt(null,!0,!1),Yt=!1),J.show&&J.live&&it&&(zn(),it=!1),m||(m=!0,n.status=1,Ve(\"ready\")),Cl=!1,Ql=!1}" +
  "n.redraw=(t,i)=>{ol=i||!1,t!==!1?zt(P,b.min,b.max):pl()};function Ln(t,i){let r=x[t];if(r.from==null){if(Fe==0" +
  "){let f=r.range(n,i.min,i.max,t);i.min=f[0],i.max=f[1]}if(i.min>i.max){let f=i.min;i.min=i.max,i.max=f}if(Fe>1" +
  "&&i.min!=null&&i.max!=null&&i.max-i.min<1e-16)return;t==P&&r.distr==2&&Fe>0&&(i.min=gt(i.min,l[0]),i.max=gt(i." +
  "max,l[0]),i.min==i.max&&i.max++),F[t]=i,wn=!0,pl()}}n.setScale=Ln;let Cn,Vn,hl,ml,Pi,Di,dl,gl,Li,Ci,he,_e,Vt=!" +
  "1,Oe=V.drag,Le=Oe.x,Ce=Oe.y;Ne&&(V.x&&(Cn=ft(rr,D)),V.y&&(Vn=ft(fr,D)),b.ori==0?(hl=Cn,ml=Vn):(hl=Vn,ml=Cn),he" +
  "=V.left,_e=V.top);let me=n.select=be({show:!0,over:!0,left:0,width:0,top:0,height:0},e.select),wl=me.show?ft(s" +
  "r,me.over?D:L):null;function Xl(t,i){if(me.show){for(let r in t)me[r]=t[r],r in Fn&&ge(wl,r,t[r]);i!==!1&&Ve(\"" +
  "setSelect\")}}n.setSelect=Xl;function Ws(t){if(k[t].show)Te&&$n(ye[t],Zt);else if(Te&&Xe(ye[t],Zt),Ne){let r=rl" +
  "?ot[0]:ot[t];r!=null&&Tt(r,-10,-10,K,E)}}function zt(t,i,r){Ln(t,{min:i,max:r})}function vt(t,i,r,f){i.focus!=" +
  "null&&Us(t),i.show!=null&&k.forEach((a,p)=>{p>0&&(t==p||t==null)&&(a.show=i.show,Ws(p),s==2?(zt(a.facets[0].sc" +
  "ale,null,null),zt(a.facets[1].scale,null,null)):zt(a.scale,null,null),pl())}),r!==!1&&Ve(\"setSeries\",t,i),f&&O" +
  "l(\"setSeries\",n,t,i)}n.setSeries=vt;function Gs(t,i){be(q[t],i)}function Is(t,i){t.fill=X(t.fill||null),t.dir=" +
  "ne(t.dir,-1),i=i??q.length,q.splice(i,0,t)}function Ys(t){t==null?q.length=0:q.splice(t,1)}n.addBand=Is,n.setB" +
  "and=Gs,n.delBand=Ys;function Bs(t,i){k[t].alpha=i,Ne&&ot[t]!=null&&(ot[t].style.opacity=i),Te&&ye[t]&&(ye[t].s" +
  "tyle.opacity=i)}let At,Rt,Kt,Sl={focus:!0};function Us(t){if(t!=Kt){let i=t==null,r=yt.alpha!=1;k.forEach((f,a" +
  ")=>{if(s==1||a>0){let p=i||a==0||a==t;f._focus=i?null:p,r&&Bs(a,p?1:yt.alpha)}}),Kt=t,r&&pl()}}Te&&sl&&We(Qi,s" +
  "e,t=>{V._lock||(Bt(t),Kt!=null&&vt(null,Sl,!0,xe.setSeries))});function kt(t,i,r){let f=x[i];r&&(t=t/oe-(f.ori" +
  "==1?Me:pe));let a=K;f.ori==1&&(a=E,t=a-t),f.dir==-1&&(t=a-t);let p=f._min,S=f._max,_=t/a,v=p+(S-p)*_,T=f.distr" +
  ";return T==3?xl(10,v):T==4?Tr(v,f.asinh):T==100?f.bwd(v):v}function Ks(t,i){let r=kt(t,P,i);return gt(r,l[0],P" +
  "e,De)}n.valToIdx=t=>gt(t,l[0]),n.posToIdx=Ks,n.posToVal=kt,n.valToPos=(t,i,r)=>x[i].ori==0?c(t,x[i],r?Ke:K,r?$" +
  "e:0):u(t,x[i],r?at:E,r?nt:0),n.setCursor=(t,i,r)=>{he=t.left,_e=t.top,jt(null,i,r)};function Vi(t,i){ge(wl,yl," +
  "me.left=t),ge(wl,Nl,me.width=i)}function zi(t,i){ge(wl,\"top\",me.top=t),ge(wl,Wl,me.height=i)}let zl=b.ori==0?V" +
  "i:zi,Rl=b.ori==1?Vi:zi;function js(){if(Te&&J.live)for(let t=s==2?1:0;t<k.length;t++){if(t==0&&lt)continue;let" +
  " i=J.values[t],r=0;for(let f in i)St[t][r++].firstChild.nodeValue=i[f]}}function zn(t,i){if(t!=null&&(t.idxs?t" +
  ".idxs.forEach((r,f)=>{fe[f]=r}):Pr(t.idx)||fe.fill(t.idx),J.idx=fe[0]),Te&&J.live){for(let r=0;r<k.length;r++)" +
  "(r>0||s==1&&!lt)&&qs(r,fe[r]);js()}it=!1,i!==!1&&Ve(\"setLegend\")}n.setLegend=zn;function qs(t,i){let r=k[t],f=" +
  "t==0&&j==2?pt:l[t],a;lt?a=r.values(n,t,i)??Lt:(a=r.value(n,i==null?null:f[i],t,i),a=a==null?Lt:{_:a}),J.values" +
  "[t]=a}function jt(t,i,r){Li=he,Ci=_e,[he,_e]=V.move(n,he,_e),V.left=he,V.top=_e,Ne&&(hl&&Tt(hl,Ee(he),0,K,E),m" +
  "l&&Tt(ml,0,Ee(_e),K,E));let f,a=Pe>De;At=ce,Rt=null;let p=b.ori==0?K:E,S=b.ori==1?K:E;if(he<0||Fe==0||a){f=V.i" +
  "dx=null;for(let _=0;_<k.length;_++){let v=ot[_];v!=null&&Tt(v,-10,-10,K,E)}sl&&vt(null,Sl,!0,t==null&&xe.setSe" +
  "ries),J.live&&(fe.fill(f),it=!0)}else{let _,v,T;s==1&&(_=b.ori==0?he:_e,v=kt(_,P),f=V.idx=gt(v,l[0],Pe,De),T=C" +
  "(l[0][f],b,p,0));let M=-10,A=-10,Y=0,ie=0,le=!0,Z=\"\",W=\"\";for(let z=s==2?1:0;z<k.length;z++){let de=k[z],ve=fe" +
  "[z],ze=ve==null?null:s==1?l[z][ve]:l[z][1][ve],ue=V.dataIdx(n,z,f,v),ke=ue==null?null:s==1?l[z][ue]:l[z][1][ue" +
  "];if(it=it||ke!=ze||ue!=ve,fe[z]=ue,z>0&&de.show){let Je=ue==null?-10:ue==f?T:C(s==1?l[0][ue]:l[z][0][ue],b,p," +
  "0),Ge=ke==null?-10:I(ke,s==1?x[de.scale]:x[de.facets[1].scale],S,0);if(sl&&ke!=null){let st=b.ori==1?he:_e,ht=" +
  "Ae(yt.dist(n,z,ue,Ge,st));if(ht<At){let xt=yt.bias;if(xt!=0){let Ze=kt(st,de.scale),rt=ke>=0?1:-1,mt=Ze>=0?1:-" +
  "1;mt==rt&&(mt==1?xt==1?ke>=Ze:ke<=Ze:xt==1?ke<=Ze:ke>=Ze)&&(At=ht,Rt=z)}else At=ht,Rt=z}}if(it||rl){let st,ht;" +
  "b.ori==0?(st=Je,ht=Ge):(st=Ge,ht=Je);let xt,Ze,rt,mt,bt,Ie,Qe=!0,qt=He.bbox;if(qt!=null){Qe=!1;let Ye=qt(n,z);" +
  "rt=Ye.left,mt=Ye.top,xt=Ye.width,Ze=Ye.height}else rt=st,mt=ht,xt=Ze=He.size(n,z);if(Ie=He.fill(n,z),bt=He.str" +
  "oke(n,z),rl)z==Rt&&At<=yt.prox&&(M=rt,A=mt,Y=xt,ie=Ze,le=Qe,Z=Ie,W=bt);else{let Ye=ot[z];Ye!=null&&(fl[z]=rt,u" +
  "l[z]=mt,oo(Ye,xt,Ze,Qe),no(Ye,Ie,bt),Tt(Ye,ut(rt),ut(mt),K,E))}}}}if(rl){let z=yt.prox,de=Kt==null?At<=z:At>z|" +
  "|Rt!=Kt;if(it||de){let ve=ot[0];ve!=null&&(fl[0]=M,ul[0]=A,oo(ve,Y,ie,le),no(ve,Z,W),Tt(ve,ut(M),ut(A),K,E))}}" +
  "}if(me.show&&Vt)if(t!=null){let[_,v]=xe.scales,[T,M]=xe.match,[A,Y]=t.cursor.sync.scales,ie=t.cursor.drag;if(L" +
  "e=ie._x,Ce=ie._y,Le||Ce){let{left:le,top:Z,width:W,height:z}=t.select,de=t.scales[A].ori,ve=t.posToVal,ze,ue,k" +
  "e,Je,Ge,st=_!=null&&T(_,A),ht=v!=null&&M(v,Y);st&&Le?(de==0?(ze=le,ue=W):(ze=Z,ue=z),ke=x[_],Je=C(ve(ze,A),ke," +
  "p,0),Ge=C(ve(ze+ue,A),ke,p,0),zl(wt(Je,Ge),Ae(Ge-Je))):zl(0,p),ht&&Ce?(de==1?(ze=le,ue=W):(ze=Z,ue=z),ke=x[v]," +
  "Je=I(ve(ze,Y),ke,S,0),Ge=I(ve(ze+ue,Y),ke,S,0),Rl(wt(Je,Ge),Ae(Ge-Je))):Rl(0,S)}else On()}else{let _=Ae(Li-Pi)" +
  ",v=Ae(Ci-Di);if(b.ori==1){let Y=_;_=v,v=Y}Le=Oe.x&&_>=Oe.dist,Ce=Oe.y&&v>=Oe.dist;let T=Oe.uni;T!=null?Le&&Ce&" +
  "&(Le=_>=T,Ce=v>=T,!Le&&!Ce&&(v>_?Ce=!0:Le=!0)):Oe.x&&Oe.y&&(Le||Ce)&&(Le=Ce=!0);let M,A;Le&&(b.ori==0?(M=dl,A=" +
  "he):(M=gl,A=_e),zl(wt(M,A),Ae(A-M)),Ce||Rl(0,S)),Ce&&(b.ori==1?(M=dl,A=he):(M=gl,A=_e),Rl(wt(M,A),Ae(A-M)),Le|" +
  "|zl(0,p)),!Le&&!Ce&&(zl(0,0),Rl(0,0))}if(Oe._x=Le,Oe._y=Ce,t==null){if(r){if(Ui!=null){let[_,v]=xe.scales;xe.v" +
  "alues[0]=_!=null?kt(b.ori==0?he:_e,_):null,xe.values[1]=v!=null?kt(b.ori==1?he:_e,v):null}Ol(Gn,n,he,_e,K,E,f)" +
  "}if(sl){let _=r&&xe.setSeries,v=yt.prox;Kt==null?At<=v&&vt(Rt,Sl,!0,_):At>v?vt(null,Sl,!0,_):Rt!=Kt&&vt(Rt,Sl," +
  "!0,_)}}it&&(J.idx=f,zn()),i!==!1&&Ve(\"setCursor\")}let Ft=null;Object.defineProperty(n,\"rect\",{get(){return Ft=" +
  "=null&&Fl(!1),Ft}});function Fl(t=!1){t?Ft=null:(Ft=D.getBoundingClientRect(),Ve(\"syncRect\",Ft))}function Ri(t" +
  ",i,r,f,a,p,S){V._lock||Vt&&t!=null&&t.movementX==0&&t.movementY==0||(Rn(t,i,r,f,a,p,S,!1,t!=null),t!=null?jt(n" +
  "ull,!0,!0):jt(i,!0,!1))}function Rn(t,i,r,f,a,p,S,_,v){if(Ft==null&&Fl(!1),Bt(t),t!=null)r=t.clientX-Ft.left,f" +
  "=t.clientY-Ft.top;else{if(r<0||f<0){he=-10,_e=-10;return}let[T,M]=xe.scales,A=i.cursor.sync,[Y,ie]=A.values,[l" +
  "e,Z]=A.scales,[W,z]=xe.match,de=i.axes[0].side%2==1,ve=b.ori==0?K:E,ze=b.ori==1?K:E,ue=de?p:a,ke=de?a:p,Je=de?" +
  "f:r,Ge=de?r:f;if(le!=null?r=W(T,le)?h(Y,x[T],ve,0):-10:r=ve*(Je/ue),Z!=null?f=z(M,Z)?h(ie,x[M],ze,0):-10:f=ze*" +
  "(Ge/ke),b.ori==1){let st=r;r=f,f=st}}v&&(i==null||i.cursor.event.type==Gn)&&((r<=1||r>=K-1)&&(r=$t(r,K)),(f<=1" +
  "||f>=E-1)&&(f=$t(f,E))),_?(Pi=r,Di=f,[dl,gl]=V.move(n,r,f)):(he=r,_e=f)}let Fn={width:0,height:0,left:0,top:0}" +
  ";function On(){Xl(Fn,!1)}let Fi,Oi,Hi,Ni;function Wi(t,i,r,f,a,p,S){Vt=!0,Le=Ce=Oe._x=Oe._y=!1,Rn(t,i,r,f,a,p," +
  "S,!0,!1),t!=null&&(We(In,jn,Gi,!1),Ol(Ji,n,dl,gl,K,E,null));let{left:_,top:v,width:T,height:M}=me;Fi=_,Oi=v,Hi" +
  "=T,Ni=M}function Gi(t,i,r,f,a,p,S){Vt=Oe._x=Oe._y=!1,Rn(t,i,r,f,a,p,S,!1,!0);let{left:_,top:v,width:T,height:M" +
  "}=me,A=T>0||M>0,Y=Fi!=_||Oi!=v||Hi!=T||Ni!=M;if(A&&Y&&Xl(me),Oe.setScale&&A&&Y){let ie=_,le=T,Z=v,W=M;if(b.ori" +
  "==1&&(ie=v,le=M,Z=_,W=T),Le&&zt(P,kt(ie,P),kt(ie+le,P)),Ce)for(let z in x){let de=x[z];z!=P&&de.from==null&&de" +
  ".min!=ce&&zt(z,kt(Z+W,z),kt(Z,z))}On()}else V.lock&&(V._lock=!V._lock,jt(i,!0,t!=null));t!=null&&(nl(In,jn),Ol" +
  "(In,n,he,_e,K,E,null))}function $s(t,i,r,f,a,p,S){if(V._lock)return;Bt(t);let _=Vt;if(Vt){let v=!0,T=!0,M=10,A" +
  ",Y;b.ori==0?(A=Le,Y=Ce):(A=Ce,Y=Le),A&&Y&&(v=he<=M||he>=K-M,T=_e<=M||_e>=E-M),A&&v&&(he=he<dl?0:K),Y&&T&&(_e=_" +
  "e<gl?0:E),jt(null,!0,!0),Vt=!1}he=-10,_e=-10,fe.fill(null),jt(null,!0,!0),_&&(Vt=_)}function Ii(t,i,r,f,a,p,S)" +
  "{V._lock||(Bt(t),_n(),On(),t!=null&&Ol(Xi,n,he,_e,K,E,null))}function Yi(){H.forEach(Kf),Sn(n.width,n.height,!" +
  "0)}Qt(sn,kl,Yi);let _l={};_l.mousedown=Wi,_l.mousemove=Ri,_l.mouseup=Gi,_l.dblclick=Ii,_l.setSeries=(t,i,r,f)=" +
  ">{let a=xe.match[2];r=a(n,i,r),r!=-1&&vt(r,f,!0,!1)},Ne&&(We(Ji,D,Wi),We(Gn,D,Ri),We(Zi,D,t=>{Bt(t),Fl(!1)}),W" +
  "e(Qi,D,$s),We(Xi,D,Ii),ti.add(n),n.syncRect=Fl);let en=n.hooks=e.hooks||{};function Ve(t,i,r){Dn?Vl.push([t,i," +
  "r]):t in en&&en[t].forEach(f=>{f.call(null,n,i,r)})}(e.plugins||[]).forEach(t=>{for(let i in t.hooks)en[i]=(en" +
  "[i]||[]).concat(t.hooks[i])});let Bi=(t,i,r)=>r,xe=be({key:null,setSeries:!1,filters:{pub:co,sub:co},scales:[P" +
  ",k[1]?k[1].scale:null],match:[ao,ao,Bi],values:[null,null]},V.sync);xe.match.length==2&&xe.match.push(Bi),V.sy" +
  "nc=xe;let Ui=xe.key,Hn=fs(Ui);function Ol(t,i,r,f,a,p,S){xe.filters.pub(t,i,r,f,a,p,S)&&Hn.pub(t,i,r,f,a,p,S)}" +
  "Hn.sub(n);function Js(t,i,r,f,a,p,S){xe.filters.sub(t,i,r,f,a,p,S)&&_l[t](null,i,r,f,a,p,S)}n.pub=Js;function " +
  "Zs(){Hn.unsub(n),ti.delete(n),Nt.clear(),Jn(sn,kl,Yi),d.remove(),se?.remove(),Ve(\"destroy\")}n.destroy=Zs;funct" +
  "ion Nn(){Ve(\"init\",e,l),vi(l||e.data,!1),F[P]?Ln(P,F[P]):_n(),jl=me.show&&(me.width>0||me.height>0),Yt=it=!0,S" +
  "n(e.width,e.height)}return k.forEach(_i),H.forEach(Ps),o?o instanceof HTMLElement?(o.appendChild(d),Nn()):o(n," +
  "Nn):Nn(),n}Re.assign=be;Re.fmtNum=fi;Re.rangeNum=rn;Re.rangeLog=cn;Re.rangeAsinh=si;Re.orient=el;Re.pxRatio=oe" +
  ";Re.join=Fr;Re.fmtDate=ci,Re.tzDate=jr;Re.sync=fs;{Re.addGap=Df,Re.clipGaps=hn;let e=Re.paths={points:ms};e.li" +
  "near=gs,e.stepped=Vf,e.bars=zf,e.spline=Ff}var ys=24*3600*1e3,vs=220;function Jf(e,l){let o=l.map(({day:m})=>D" +
  "ate.parse(m)/1e3),n=l.map(({messages:m})=>m),s=matchMedia(\"(prefers-color-scheme: dark)\"),c={},u=()=>{c.plot?." +
  "destroy(),c.plot=new Re(jf(e),[o,n],e)};u(),s.addEventListener(\"change\",u);let h=new ResizeObserver(()=>{c.plo" +
  "t?.setSize({width:Math.max(200,e.clientWidth),height:vs})});return h.observe(e),{remove:()=>{s.removeEventList" +
  "ener(\"change\",u),h.disconnect(),c.plot?.destroy()}}}function jf(e){let l=s=>getComputedStyle(e).getPropertyVal" +
  "ue(s),o={stroke:l(\"--quiet\"),grid:{stroke:l(\"--line\"),width:1},ticks:{stroke:l(\"--line\"),width:1}},n=Re.paths." +
  "bars?.({size:[.7,40]});return{width:Math.max(200,e.clientWidth),height:vs,legend:{show:!1},cursor:{show:!1},sc" +
  "ales:{x:{range:(s,c,u)=>[c-ys/2e3,u+ys/2e3]},y:{range:(s,c,u)=>[0,Math.max(4,u*1.1)]}},axes:[{...o,values:(s,c" +
  ")=>c.map(u=>new Date(u*1e3).toISOString().slice(5,10))},{...o,size:60,incrs:[1,2,5,10,20,50,100,200,500,1e3,2e" +
  "3,5e3,1e4,2e4,5e4,1e5,1e6,1e7,1e8]}],series:[{},{stroke:l(\"--accent\"),fill:l(\"--accent\"),width:0,...n&&{paths:" +
  "n},points:{show:!1}}]}}export{Jf as drawPlot};\n";
