/** Built from api/console/page/ui.ts by tools/generate_console.ts; do not edit. */
export const text =
  "/*! With preact (MIT, Jason Miller), htm (Apache-2.0, Google) and uPlot (MIT, Leon Sorokin). */\nvar V,m,l_,F_," +
  "E,r_,c_,s_,f_,Q,z,G,a_,D={},p_=[],W_=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i,$=Arr" +
  "ay.isArray;function C(e,_){for(var t in _)e[t]=_[t];return e}function X(e){e&&e.parentNode&&e.parentNode.remov" +
  "eChild(e)}function Y(e,_,t){var o,u,n,i={};for(n in _)n==\"key\"?o=_[n]:n==\"ref\"?u=_[n]:i[n]=_[n];if(arguments.l" +
  "ength>2&&(i.children=arguments.length>3?V.call(arguments,2):t),typeof e==\"function\"&&e.defaultProps!=null)for(" +
  "n in e.defaultProps)i[n]===void 0&&(i[n]=e.defaultProps[n]);return L(e,i,o,u,null)}function L(e,_,t,o,u){var n" +
  "={type:e,props:_,key:t,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:void 0,__v:u??++l_,__i:-1,__" +
  "u:0};return u==null&&m.vnode!=null&&m.vnode(n),n}function j(e){return e.children}function R(e,_){this.props=e," +
  "this.context=_}function S(e,_){if(_==null)return e.__?S(e.__,e.__i+1):null;for(var t;_<e.__k.length;_++)if((t=" +
  "e.__k[_])!=null&&t.__e!=null)return t.__e;return typeof e.type==\"function\"?S(e):null}function h_(e){var _,t;if" +
  "((e=e.__)!=null&&e.__c!=null){for(e.__e=e.__c.base=null,_=0;_<e.__k.length;_++)if((t=e.__k[_])!=null&&t.__e!=n" +
  "ull){e.__e=e.__c.base=t.__e;break}return h_(e)}}function J(e){(!e.__d&&(e.__d=!0)&&E.push(e)&&!I.__r++||r_!=m." +
  "debounceRendering)&&((r_=m.debounceRendering)||c_)(I)}function I(){for(var e,_,t,o,u,n,i,c=1;E.length;)E.lengt" +
  "h>c&&E.sort(s_),e=E.shift(),c=E.length,e.__d&&(t=void 0,o=void 0,u=(o=(_=e).__v).__e,n=[],i=[],_.__P&&((t=C({}" +
  ",o)).__v=o.__v+1,m.vnode&&m.vnode(t),Z(_.__P,t,o,_.__n,_.__P.namespaceURI,32&o.__u?[u]:null,n,u??S(o),!!(32&o." +
  "__u),i),t.__v=o.__v,t.__.__k[t.__i]=t,v_(n,t,i),o.__e=o.__=null,t.__e!=u&&h_(t)));I.__r=0}function d_(e,_,t,o," +
  "u,n,i,c,s,l,f){var r,a,p,g,k,b,h,d=o&&o.__k||p_,w=_.length;for(s=L_(t,_,d,s,w),r=0;r<w;r++)(p=t.__k[r])!=null&" +
  "&(a=p.__i==-1?D:d[p.__i]||D,p.__i=r,b=Z(e,p,a,u,n,i,c,s,l,f),g=p.__e,p.ref&&a.ref!=p.ref&&(a.ref&&__(a.ref,nul" +
  "l,p),f.push(p.ref,p.__c||g,p)),k==null&&g!=null&&(k=g),(h=!!(4&p.__u))||a.__k===p.__k?s=m_(p,s,e,h):typeof p.t" +
  "ype==\"function\"&&b!==void 0?s=b:g&&(s=g.nextSibling),p.__u&=-7);return t.__e=k,s}function L_(e,_,t,o,u){var n," +
  "i,c,s,l,f=t.length,r=f,a=0;for(e.__k=new Array(u),n=0;n<u;n++)(i=_[n])!=null&&typeof i!=\"boolean\"&&typeof i!=\"" +
  "function\"?(s=n+a,(i=e.__k[n]=typeof i==\"string\"||typeof i==\"number\"||typeof i==\"bigint\"||i.constructor==String" +
  "?L(null,i,null,null,null):$(i)?L(j,{children:i},null,null,null):i.constructor==null&&i.__b>0?L(i.type,i.props," +
  "i.key,i.ref?i.ref:null,i.__v):i).__=e,i.__b=e.__b+1,c=null,(l=i.__i=R_(i,t,s,r))!=-1&&(r--,(c=t[l])&&(c.__u|=2" +
  ")),c==null||c.__v==null?(l==-1&&(u>f?a--:u<f&&a++),typeof i.type!=\"function\"&&(i.__u|=4)):l!=s&&(l==s-1?a--:l=" +
  "=s+1?a++:(l>s?a--:a++,i.__u|=4))):e.__k[n]=null;if(r)for(n=0;n<f;n++)(c=t[n])!=null&&(2&c.__u)==0&&(c.__e==o&&" +
  "(o=S(c)),g_(c,c));return o}function m_(e,_,t,o){var u,n;if(typeof e.type==\"function\"){for(u=e.__k,n=0;u&&n<u.l" +
  "ength;n++)u[n]&&(u[n].__=e,_=m_(u[n],_,t,o));return _}e.__e!=_&&(o&&(_&&e.type&&!_.parentNode&&(_=S(e)),t.inse" +
  "rtBefore(e.__e,_||null)),_=e.__e);do _=_&&_.nextSibling;while(_!=null&&_.nodeType==8);return _}function R_(e,_" +
  ",t,o){var u,n,i,c=e.key,s=e.type,l=_[t],f=l!=null&&(2&l.__u)==0;if(l===null&&e.key==null||f&&c==l.key&&s==l.ty" +
  "pe)return t;if(o>(f?1:0)){for(u=t-1,n=t+1;u>=0||n<_.length;)if((l=_[i=u>=0?u--:n++])!=null&&(2&l.__u)==0&&c==l" +
  ".key&&s==l.type)return i}return-1}function i_(e,_,t){_[0]==\"-\"?e.setProperty(_,t??\"\"):e[_]=t==null?\"\":typeof t" +
  "!=\"number\"||W_.test(_)?t:t+\"px\"}function W(e,_,t,o,u){var n,i;_:if(_==\"style\")if(typeof t==\"string\")e.style.cs" +
  "sText=t;else{if(typeof o==\"string\"&&(e.style.cssText=o=\"\"),o)for(_ in o)t&&_ in t||i_(e.style,_,\"\");if(t)for(_" +
  " in t)o&&t[_]==o[_]||i_(e.style,_,t[_])}else if(_[0]==\"o\"&&_[1]==\"n\")n=_!=(_=_.replace(f_,\"$1\")),i=_.toLowerCa" +
  "se(),_=i in e||_==\"onFocusOut\"||_==\"onFocusIn\"?i.slice(2):_.slice(2),e.l||(e.l={}),e.l[_+n]=t,t?o?t.u=o.u:(t.u" +
  "=Q,e.addEventListener(_,n?G:z,n)):e.removeEventListener(_,n?G:z,n);else{if(u==\"http://www.w3.org/2000/svg\")_=_" +
  ".replace(/xlink(H|:h)/,\"h\").replace(/sName$/,\"s\");else if(_!=\"width\"&&_!=\"height\"&&_!=\"href\"&&_!=\"list\"&&_!=\"f" +
  "orm\"&&_!=\"tabIndex\"&&_!=\"download\"&&_!=\"rowSpan\"&&_!=\"colSpan\"&&_!=\"role\"&&_!=\"popover\"&&_ in e)try{e[_]=t??\"\"" +
  ";break _}catch{}typeof t==\"function\"||(t==null||t===!1&&_[4]!=\"-\"?e.removeAttribute(_):e.setAttribute(_,_==\"po" +
  "pover\"&&t==1?\"\":t))}}function u_(e){return function(_){if(this.l){var t=this.l[_.type+e];if(_.t==null)_.t=Q++;" +
  "else if(_.t<t.u)return;return t(m.event?m.event(_):_)}}}function Z(e,_,t,o,u,n,i,c,s,l){var f,r,a,p,g,k,b,h,d," +
  "w,H,A,T,o_,F,U,O,x=_.type;if(_.constructor!=null)return null;128&t.__u&&(s=!!(32&t.__u),n=[c=_.__e=t.__e]),(f=" +
  "m.__b)&&f(_);_:if(typeof x==\"function\")try{if(h=_.props,d=\"prototype\"in x&&x.prototype.render,w=(f=x.contextTy" +
  "pe)&&o[f.__c],H=f?w?w.props.value:f.__:o,t.__c?b=(r=_.__c=t.__c).__=r.__E:(d?_.__c=r=new x(h,H):(_.__c=r=new R" +
  "(h,H),r.constructor=x,r.render=V_),w&&w.sub(r),r.props=h,r.state||(r.state={}),r.context=H,r.__n=o,a=r.__d=!0," +
  "r.__h=[],r._sb=[]),d&&r.__s==null&&(r.__s=r.state),d&&x.getDerivedStateFromProps!=null&&(r.__s==r.state&&(r.__" +
  "s=C({},r.__s)),C(r.__s,x.getDerivedStateFromProps(h,r.__s))),p=r.props,g=r.state,r.__v=_,a)d&&x.getDerivedStat" +
  "eFromProps==null&&r.componentWillMount!=null&&r.componentWillMount(),d&&r.componentDidMount!=null&&r.__h.push(" +
  "r.componentDidMount);else{if(d&&x.getDerivedStateFromProps==null&&h!==p&&r.componentWillReceiveProps!=null&&r." +
  "componentWillReceiveProps(h,H),!r.__e&&r.shouldComponentUpdate!=null&&r.shouldComponentUpdate(h,r.__s,H)===!1|" +
  "|_.__v==t.__v){for(_.__v!=t.__v&&(r.props=h,r.state=r.__s,r.__d=!1),_.__e=t.__e,_.__k=t.__k,_.__k.some(functio" +
  "n(P){P&&(P.__=_)}),A=0;A<r._sb.length;A++)r.__h.push(r._sb[A]);r._sb=[],r.__h.length&&i.push(r);break _}r.comp" +
  "onentWillUpdate!=null&&r.componentWillUpdate(h,r.__s,H),d&&r.componentDidUpdate!=null&&r.__h.push(function(){r" +
  ".componentDidUpdate(p,g,k)})}if(r.context=H,r.props=h,r.__P=e,r.__e=!1,T=m.__r,o_=0,d){for(r.state=r.__s,r.__d" +
  "=!1,T&&T(_),f=r.render(r.props,r.state,r.context),F=0;F<r._sb.length;F++)r.__h.push(r._sb[F]);r._sb=[]}else do" +
  " r.__d=!1,T&&T(_),f=r.render(r.props,r.state,r.context),r.state=r.__s;while(r.__d&&++o_<25);r.state=r.__s,r.ge" +
  "tChildContext!=null&&(o=C(C({},o),r.getChildContext())),d&&!a&&r.getSnapshotBeforeUpdate!=null&&(k=r.getSnapsh" +
  "otBeforeUpdate(p,g)),U=f,f!=null&&f.type===j&&f.key==null&&(U=y_(f.props.children)),c=d_(e,$(U)?U:[U],_,t,o,u," +
  "n,i,c,s,l),r.base=_.__e,_.__u&=-161,r.__h.length&&i.push(r),b&&(r.__E=r.__=null)}catch(P){if(_.__v=null,s||n!=" +
  "null)if(P.then){for(_.__u|=s?160:128;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;n[n.indexOf(c)]=null,_._" +
  "_e=c}else{for(O=n.length;O--;)X(n[O]);K(_)}else _.__e=t.__e,_.__k=t.__k,P.then||K(_);m.__e(P,_,t)}else n==null" +
  "&&_.__v==t.__v?(_.__k=t.__k,_.__e=t.__e):c=_.__e=I_(t.__e,_,t,o,u,n,i,s,l);return(f=m.diffed)&&f(_),128&_.__u?" +
  "void 0:c}function K(e){e&&e.__c&&(e.__c.__e=!0),e&&e.__k&&e.__k.forEach(K)}function v_(e,_,t){for(var o=0;o<t." +
  "length;o++)__(t[o],t[++o],t[++o]);m.__c&&m.__c(_,e),e.some(function(u){try{e=u.__h,u.__h=[],e.some(function(n)" +
  "{n.call(u)})}catch(n){m.__e(n,u.__v)}})}function y_(e){return typeof e!=\"object\"||e==null||e.__b&&e.__b>0?e:$(" +
  "e)?e.map(y_):C({},e)}function I_(e,_,t,o,u,n,i,c,s){var l,f,r,a,p,g,k,b=t.props,h=_.props,d=_.type;if(d==\"svg\"" +
  "?u=\"http://www.w3.org/2000/svg\":d==\"math\"?u=\"http://www.w3.org/1998/Math/MathML\":u||(u=\"http://www.w3.org/1999" +
  "/xhtml\"),n!=null){for(l=0;l<n.length;l++)if((p=n[l])&&\"setAttribute\"in p==!!d&&(d?p.localName==d:p.nodeType==3" +
  ")){e=p,n[l]=null;break}}if(e==null){if(d==null)return document.createTextNode(h);e=document.createElementNS(u," +
  "d,h.is&&h),c&&(m.__m&&m.__m(_,n),c=!1),n=null}if(d==null)b===h||c&&e.data==h||(e.data=h);else{if(n=n&&V.call(e" +
  ".childNodes),b=t.props||D,!c&&n!=null)for(b={},l=0;l<e.attributes.length;l++)b[(p=e.attributes[l]).name]=p.val" +
  "ue;for(l in b)if(p=b[l],l!=\"children\"){if(l==\"dangerouslySetInnerHTML\")r=p;else if(!(l in h)){if(l==\"value\"&&\"" +
  "defaultValue\"in h||l==\"checked\"&&\"defaultChecked\"in h)continue;W(e,l,null,p,u)}}for(l in h)p=h[l],l==\"children" +
  "\"?a=p:l==\"dangerouslySetInnerHTML\"?f=p:l==\"value\"?g=p:l==\"checked\"?k=p:c&&typeof p!=\"function\"||b[l]===p||W(e," +
  "l,p,b[l],u);if(f)c||r&&(f.__html==r.__html||f.__html==e.innerHTML)||(e.innerHTML=f.__html),_.__k=[];else if(r&" +
  "&(e.innerHTML=\"\"),d_(_.type==\"template\"?e.content:e,$(a)?a:[a],_,t,o,d==\"foreignObject\"?\"http://www.w3.org/199" +
  "9/xhtml\":u,n,i,n?n[0]:t.__k&&S(t,0),c,s),n!=null)for(l=n.length;l--;)X(n[l]);c||(l=\"value\",d==\"progress\"&&g==n" +
  "ull?e.removeAttribute(\"value\"):g!=null&&(g!==e[l]||d==\"progress\"&&!g||d==\"option\"&&g!=b[l])&&W(e,l,g,b[l],u),l" +
  "=\"checked\",k!=null&&k!=e[l]&&W(e,l,k,b[l],u))}return e}function __(e,_,t){try{if(typeof e==\"function\"){var o=t" +
  "ypeof e.__u==\"function\";o&&e.__u(),o&&_==null||(e.__u=e(_))}else e.current=_}catch(u){m.__e(u,t)}}function g_(" +
  "e,_,t){var o,u;if(m.unmount&&m.unmount(e),(o=e.ref)&&(o.current&&o.current!=e.__e||__(o,null,_)),(o=e.__c)!=nu" +
  "ll){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(n){m.__e(n,_)}o.base=o.__P=null}if(o=e.__k)fo" +
  "r(u=0;u<o.length;u++)o[u]&&g_(o[u],_,t||typeof e.type!=\"function\");t||X(e.__e),e.__c=e.__=e.__e=void 0}functio" +
  "n V_(e,_,t){return this.constructor(e,t)}function $_(e,_,t){var o,u,n,i;_==document&&(_=document.documentEleme" +
  "nt),m.__&&m.__(e,_),u=(o=typeof t==\"function\")?null:t&&t.__k||_.__k,n=[],i=[],Z(_,e=(!o&&t||_).__k=Y(j,null,[e" +
  "]),u||D,D,_.namespaceURI,!o&&t?[t]:u?null:_.firstChild?V.call(_.childNodes):null,n,!o&&t?t:u?u.__e:_.firstChil" +
  "d,o,i),v_(n,e,i)}function j_(e){function _(t){var o,u;return this.getChildContext||(o=new Set,(u={})[_.__c]=th" +
  "is,this.getChildContext=function(){return u},this.componentWillUnmount=function(){o=null},this.shouldComponent" +
  "Update=function(n){this.props.value!=n.value&&o.forEach(function(i){i.__e=!0,J(i)})},this.sub=function(n){o.ad" +
  "d(n);var i=n.componentWillUnmount;n.componentWillUnmount=function(){o&&o.delete(n),i&&i.call(n)}}),t.children}" +
  "return _.__c=\"__cC\"+a_++,_.__=e,_.Provider=_.__l=(_.Consumer=function(t,o){return t.children(o)}).contextType=" +
  "_,_}V=p_.slice,m={__e:function(e,_,t,o){for(var u,n,i;_=_.__;)if((u=_.__c)&&!u.__)try{if((n=u.constructor)&&n." +
  "getDerivedStateFromError!=null&&(u.setState(n.getDerivedStateFromError(e)),i=u.__d),u.componentDidCatch!=null&" +
  "&(u.componentDidCatch(e,o||{}),i=u.__d),i)return u.__E=u}catch(c){e=c}throw e}},l_=0,F_=function(e){return e!=" +
  "null&&e.constructor==null},R.prototype.setState=function(e,_){var t;t=this.__s!=null&&this.__s!=this.state?thi" +
  "s.__s:this.__s=C({},this.state),typeof e==\"function\"&&(e=e(C({},t),this.props)),e&&C(t,e),e!=null&&this.__v&&(" +
  "_&&this._sb.push(_),J(this))},R.prototype.forceUpdate=function(e){this.__v&&(this.__e=!0,e&&this.__h.push(e),J" +
  "(this))},R.prototype.render=j,E=[],c_=typeof Promise==\"function\"?Promise.prototype.then.bind(Promise.resolve()" +
  "):setTimeout,s_=function(e,_){return e.__v.__b-_.__v.__b},I.__r=0,f_=/(PointerCapture)$|Capture$/i,Q=0,z=u_(!1" +
  "),G=u_(!0),a_=0;var k_=function(e,_,t,o){var u;_[0]=0;for(var n=1;n<_.length;n++){var i=_[n++],c=_[n]?(_[0]|=i" +
  "?1:2,t[_[n++]]):_[++n];i===3?o[0]=c:i===4?o[1]=Object.assign(o[1]||{},c):i===5?(o[1]=o[1]||{})[_[++n]]=c:i===6" +
  "?o[1][_[++n]]+=c+\"\":i?(u=e.apply(c,k_(e,c,t,[\"\",null])),o.push(u),c[0]?_[0]|=2:(_[n-2]=0,_[n]=u)):o.push(c)}re" +
  "turn o},b_=new Map;function x_(e){var _=b_.get(this);return _||(_=new Map,b_.set(this,_)),(_=k_(this,_.get(e)|" +
  "|(_.set(e,_=(function(t){for(var o,u,n=1,i=\"\",c=\"\",s=[0],l=function(a){n===1&&(a||(i=i.replace(/^\\s*\\n\\s*|\\s*\\" +
  "n\\s*$/g,\"\")))?s.push(0,a,i):n===3&&(a||i)?(s.push(3,a,i),n=2):n===2&&i===\"...\"&&a?s.push(4,a,0):n===2&&i&&!a?s" +
  ".push(5,0,!0,i):n>=5&&((i||!a&&n===5)&&(s.push(n,0,i,u),n=6),a&&(s.push(n,a,0,u),n=6)),i=\"\"},f=0;f<t.length;f+" +
  "+){f&&(n===1&&l(),l(f));for(var r=0;r<t[f].length;r++)o=t[f][r],n===1?o===\"<\"?(l(),s=[s],n=3):i+=o:n===4?i===\"" +
  "--\"&&o===\">\"?(n=1,i=\"\"):i=o+i[0]:c?o===c?c=\"\":i+=o:o==='\"'||o===\"'\"?c=o:o===\">\"?(l(),n=1):n&&(o===\"=\"?(n=5,u=i" +
  ",i=\"\"):o===\"/\"&&(n<5||t[f][r+1]===\">\")?(l(),n===3&&(s=s[0]),n=s,(s=s[0]).push(2,0,n),n=0):o===\" \"||o===\"\t\"||o=" +
  "==`\n`||o===\"\\r\"?(l(),n=2):i+=o),n===3&&i===\"!--\"&&(n=4,s=s[0])}return l(),s})(e)),_),arguments,[])).length>1?_" +
  ":_[0]}var C_=x_.bind(Y);var N,v,e_,w_,M=0,D_=[],y=m,H_=y.__b,E_=y.__r,P_=y.diffed,S_=y.__c,N_=y.unmount,T_=y._" +
  "_;function B(e,_){y.__h&&y.__h(v,e,M||_),M=0;var t=v.__H||(v.__H={__:[],__h:[]});return e>=t.__.length&&t.__.p" +
  "ush({}),t.__[e]}function q_(e){return M=1,B_(A_,e)}function B_(e,_,t){var o=B(N++,2);if(o.t=e,!o.__c&&(o.__=[t" +
  "?t(_):A_(void 0,_),function(c){var s=o.__N?o.__N[0]:o.__[0],l=o.t(s,c);s!==l&&(o.__N=[l,o.__[1]],o.__c.setStat" +
  "e({}))}],o.__c=v,!v.__f)){var u=function(c,s,l){if(!o.__c.__H)return!0;var f=o.__c.__H.__.filter(function(a){r" +
  "eturn!!a.__c});if(f.every(function(a){return!a.__N}))return!n||n.call(this,c,s,l);var r=o.__c.props!==c;return" +
  " f.forEach(function(a){if(a.__N){var p=a.__[0];a.__=a.__N,a.__N=void 0,p!==a.__[0]&&(r=!0)}}),n&&n.call(this,c" +
  ",s,l)||r};v.__f=!0;var n=v.shouldComponentUpdate,i=v.componentWillUpdate;v.componentWillUpdate=function(c,s,l)" +
  "{if(this.__e){var f=n;n=void 0,u(c,s,l),n=f}i&&i.call(this,c,s,l)},v.shouldComponentUpdate=u}return o.__N||o._" +
  "_}function O_(e,_){var t=B(N++,3);!y.__s&&M_(t.__H,_)&&(t.__=e,t.u=_,v.__H.__h.push(t))}function z_(e){return " +
  "M=5,n_(function(){return{current:e}},[])}function n_(e,_){var t=B(N++,7);return M_(t.__H,_)&&(t.__=e(),t.__H=_" +
  ",t.__h=e),t.__}function G_(e,_){return M=8,n_(function(){return e},_)}function J_(e){var _=v.context[e.__c],t=" +
  "B(N++,9);return t.c=e,_?(t.__==null&&(t.__=!0,_.sub(v)),_.props.value):e.__}function K_(){for(var e;e=D_.shift" +
  "();)if(e.__P&&e.__H)try{e.__H.__h.forEach(q),e.__H.__h.forEach(t_),e.__H.__h=[]}catch(_){e.__H.__h=[],y.__e(_," +
  "e.__v)}}y.__b=function(e){v=null,H_&&H_(e)},y.__=function(e,_){e&&_.__k&&_.__k.__m&&(e.__m=_.__k.__m),T_&&T_(e" +
  ",_)},y.__r=function(e){E_&&E_(e),N=0;var _=(v=e.__c).__H;_&&(e_===v?(_.__h=[],v.__h=[],_.__.forEach(function(t" +
  "){t.__N&&(t.__=t.__N),t.u=t.__N=void 0})):(_.__h.forEach(q),_.__h.forEach(t_),_.__h=[],N=0)),e_=v},y.diffed=fu" +
  "nction(e){P_&&P_(e);var _=e.__c;_&&_.__H&&(_.__H.__h.length&&(D_.push(_)!==1&&w_===y.requestAnimationFrame||((" +
  "w_=y.requestAnimationFrame)||Q_)(K_)),_.__H.__.forEach(function(t){t.u&&(t.__H=t.u),t.u=void 0})),e_=v=null},y" +
  ".__c=function(e,_){_.some(function(t){try{t.__h.forEach(q),t.__h=t.__h.filter(function(o){return!o.__||t_(o)})" +
  "}catch(o){_.some(function(u){u.__h&&(u.__h=[])}),_=[],y.__e(o,t.__v)}}),S_&&S_(e,_)},y.unmount=function(e){N_&" +
  "&N_(e);var _,t=e.__c;t&&t.__H&&(t.__H.__.forEach(function(o){try{q(o)}catch(u){_=u}}),t.__H=void 0,_&&y.__e(_," +
  "t.__v))};var U_=typeof requestAnimationFrame==\"function\";function Q_(e){var _,t=function(){clearTimeout(o),U_&" +
  "&cancelAnimationFrame(_),setTimeout(e)},o=setTimeout(t,35);U_&&(_=requestAnimationFrame(t))}function q(e){var " +
  "_=v,t=e.__c;typeof t==\"function\"&&(e.__c=void 0,t()),v=_}function t_(e){var _=v;e.__c=e.__(),v=_}function M_(e" +
  ",_){return!e||e.length!==_.length||_.some(function(t,o){return t!==e[o]})}function A_(e,_){return typeof _==\"f" +
  "unction\"?_(e):_}var ue=C_;export{j_ as createContext,ue as html,$_ as render,G_ as useCallback,J_ as useContex" +
  "t,O_ as useEffect,n_ as useMemo,z_ as useRef,q_ as useState};\n";
