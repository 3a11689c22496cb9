/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var X=Object.create;var I=Object.defineProperty;var Z=Object.getOwnPropertyDescriptor;var ee=Object.getOwnProp" +
  "ertyNames;var re=Object.getPrototypeOf,te=Object.prototype.hasOwnProperty;var ne=(t,e,r,n)=>{if(e&&typeof e==\"" +
  "object\"||typeof e==\"function\")for(let o of ee(e))!te.call(t,o)&&o!==r&&I(t,o,{get:()=>e[o],enumerable:!(n=Z(e," +
  "o))||n.enumerable});return t};var oe=(t,e,r)=>(r=t!=null?X(re(t)):{},ne(e||!t||!t.__esModule?I(r,\"default\",{va" +
  "lue:t,enumerable:!0}):r,t));var Q=oe(require(\"node:process\")),R=require(\"node:worker_threads\");var i={invalidA" +
  "rgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondit" +
  "ion:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},s=(t,e,r,n)=>({" +
  "http:t,grpc:e,close:r,errorClass:n}),T={join_timeout:s(504,i.deadlineExceeded,257,\"TransportError\"),auth_faile" +
  "d:s(401,i.unauthenticated,258,\"AuthError\"),auth_key_invalid:s(401,i.unauthenticated,259,\"AuthError\"),transport" +
  "_error:s(502,i.unavailable,260,\"TransportError\"),connection_error:s(502,i.unavailable,261,\"TransportError\"),li" +
  "stener_died:s(500,i.internal,262,\"TransportError\"),channel_error:s(400,i.invalidArgument,263,\"ChannelError\"),q" +
  "uota_exceeded:s(429,i.resourceExhausted,264,\"QuotaExceededError\"),mls_error:s(409,i.failedPrecondition,265,\"Ml" +
  "sError\"),invalid_request:s(400,i.invalidArgument,272,\"TransportError\"),not_found:s(404,i.notFound,273,\"Channel" +
  "Error\"),method_not_allowed:s(405,i.unimplemented,274,\"TransportError\"),payload_too_large:s(413,i.outOfRange,27" +
  "5,\"ChannelError\"),unsupported_media_type:s(415,i.invalidArgument,276,\"TransportError\"),rate_limited:s(429,i.re" +
  "sourceExhausted,277,\"TransportError\"),internal:s(500,i.internal,278,\"TransportError\"),overloaded:s(503,i.unava" +
  "ilable,279,\"TransportError\"),email_taken:s(409,i.alreadyExists,288,\"AuthError\"),key_limit_reached:s(409,i.reso" +
  "urceExhausted,289,\"AuthError\"),protocol_error:s(400,i.invalidArgument,304,\"TransportError\"),unsupported_versio" +
  "n:s(400,i.failedPrecondition,305,\"TransportError\"),unknown_operation:s(404,i.unimplemented,306,\"TransportError" +
  "\"),session_expired:s(401,i.unauthenticated,307,\"AuthError\"),session_replaced:s(409,i.aborted,308,\"TransportErr" +
  "or\"),slow_reader:s(429,i.resourceExhausted,309,\"TransportError\"),relay_draining:s(503,i.unavailable,310,\"Trans" +
  "portError\"),name_taken:s(409,i.alreadyExists,320,\"ChannelError\"),epoch_conflict:s(409,i.aborted,321,\"MlsError\"" +
  "),not_allowed:s(403,i.permissionDenied,322,\"ChannelError\"),member_limit_reached:s(409,i.resourceExhausted,323," +
  "\"ChannelError\"),already_member:s(409,i.alreadyExists,324,\"ChannelError\"),queue_full:s(429,i.resourceExhausted," +
  "325,\"ChannelError\"),cursor_invalid:s(416,i.outOfRange,326,\"ChannelError\"),key_package_invalid:s(400,i.invalidA" +
  "rgument,327,\"MlsError\"),key_package_missing:s(404,i.failedPrecondition,328,\"MlsError\"),join_rejected:s(403,i.p" +
  "ermissionDenied,329,\"ChannelError\"),membership_lapsed:s(410,i.failedPrecondition,330,\"ChannelError\"),store_loc" +
  "ked:s(409,i.failedPrecondition,336,\"ChannelError\"),store_corrupt:s(500,i.internal,337,\"MlsError\"),passphrase_w" +
  "rong:s(401,i.unauthenticated,338,\"AuthError\")};function L(t){return Object.hasOwn(T,t)}var ve=new Map(Object.e" +
  "ntries(T).flatMap(([t,{close:e}])=>L(t)?[[e,t]]:[])),u=class extends Error{name=\"WireError\";code;requestId;con" +
  "structor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};v" +
  "ar p=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1" +
  "081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,creatorWelcomeBytes:1024,envelopeBytes:24" +
  "90368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyP" +
  "ackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:100,featuresPerSession:64,identi" +
  "tyBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameCom" +
  "ponentBytes:63,channelNameBytes:191,emailBytes:254,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes" +
  ":16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCover" +
  "IntervalMs:10,maxCoverIntervalMs:36e5});var x=3,h=4,M={control:0,data:1};function C(t){if(!Number.isInteger(t)" +
  "||t<p.minCellBytes||t>p.maxCellBytes)throw new u(\"protocol_error\",`A cell has ${p.minCellBytes} to ${p.maxCell" +
  "Bytes} bytes, not ${t}`);return t}function E(t){if(t===0||t>p.envelopeBytes)throw new u(\"payload_too_large\",`C" +
  "annot send an envelope of ${t} bytes; 1 to ${p.envelopeBytes} are allowed`)}var w=class{#r;#e=[];#t=[];#i=[0,0" +
  "];#n=0;constructor(e){this.#r=C(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell s" +
  "ize while envelopes are waiting\");this.#r=C(e)}get cellBytes(){return this.#r}get pendingBytes(){return this.#" +
  "n}push(e,r){E(r.length),(e===\"control\"?this.#e:this.#t).push(r),this.#n+=r.length+h}next(e){let r=this.#e.leng" +
  "th>0?M.control:M.data,n=r===M.control?this.#e:this.#t;if(n.length===0)return;let o=e?.length===this.#r?e:new U" +
  "int8Array(this.#r);return this.#o(o,n,r),o}#o(e,r,n){let o=x,a=0,d=this.#i[n]??0;for(let l of r){if(d===0){if(" +
  "e.length-o<=h)break;ie(e,o,l.length),o+=h,d=h}let c=d-h,y=l.subarray(c,c+e.length-o);if(e.set(y,o),o+=y.length" +
  ",d+=y.length,d-h<l.length)break;a++,d=0}let f=o-x;a===1?r.shift():r.splice(0,a),this.#i[n]=d,this.#n-=f,e[0]=n" +
  ",e[1]=f>>8,e[2]=f&255,e.fill(0,o)}};function ie(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var se=" +
  "64*1024,H=.5,ae=2,B=class{#r;#e;#t=[];#i=0;#n=0;#o=new Uint8Array(0);#a=\"off\";#l=0;#h;#u=0;#s=!0;#d=!1;#p=!1;#" +
  "c=!1;#f=new Set;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#r=e,this.#e=new w(e" +
  ".cellBytes)}get pendingBytes(){return this.#e.pendingBytes+this.#i+this.#n}get counts(){return{...this.#y}}pus" +
  "h(e,r){this.#c||(this.#t.length===0?this.#e.push(e,r):(E(r.length),this.#t.push({lane:e,envelope:r}),this.#i+=" +
  "r.length+h),this.#m())}setCellBytes(e){this.#t.push({cellBytes:C(e)}),this.#B()}configure(e,r){if(!this.#c){if" +
  "(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);this.#h?.(),this.#h=void " +
  "0,this.#a=e,this.#l=r,this.#d=!1,this.#u=this.#r.nowMs(),e!==\"off\"&&this.#w(),this.#m()}}setCovering(e){this.#" +
  "s=e}flush(e){return this.#c?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.res" +
  "olve(!0):new Promise(r=>{let n=a=>{this.#f.delete(n),o(),r(a)},o=this.#r.after(e,()=>n(!1));this.#f.add(n)})}s" +
  "top(){this.#c=!0,this.#h?.(),this.#h=void 0,this.#o=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p|" +
  "|this.#c||!this.#v()||(this.#p=!0,this.#A())}#v(){return this.#d||this.#a!==\"constant\"&&this.#e.pendingBytes>0" +
  "}async#A(){await void 0;try{for(;!this.#c&&this.#v();){let e=this.#a===\"constant\"?this.#E():this.#_();if(await" +
  " this.#r.write(e,this.#e.cellBytes),this.#n=0,this.#c)break;this.#B(),this.#r.onWritten?.()}}catch(e){this.#n=" +
  "0;let r=this.#c;this.stop(),r||this.#r.onFailed?.(e)}this.#p=!1,this.#C()}#C(){if(!(this.#c||this.pendingBytes" +
  ">0)){this.#o.length>ae*this.#e.cellBytes&&(this.#o=new Uint8Array(0));for(let e of this.#f)e(!0)}}#E(){this.#d" +
  "=!1;let e=this.#g(1);return this.#x(e)?e:this.#b(e)}#_(){let{cellBytes:e,pendingBytes:r}=this.#e;if(r===0)retu" +
  "rn this.#d=!1,this.#b(this.#g(1));let n=Math.ceil(r/(e-x))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(se/e))" +
  ")),a=0;for(;a<o.length&&this.#x(o.subarray(a,a+e));)a+=e;return o.subarray(0,a)}#g(e){let r=e*this.#e.cellByte" +
  "s;return this.#o.length<r&&(this.#o=new Uint8Array(r)),this.#o.subarray(0,r)}#x(e){let r=this.#e.pendingBytes;" +
  "if(this.#e.next(e)===void 0)return!1;let n=r-this.#e.pendingBytes;return this.#n+=n,this.#y.cells++,this.#y.pa" +
  "ddingBytes+=e.length-x-n,!0}#b(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,e.f" +
  "ill(0)}#w(){let e=this.#r.nowMs();this.#h=this.#r.after(this.#a===\"poisson\"?this.#U():this.#k(e),()=>{this.#d=" +
  "this.#s||this.#a===\"constant\"&&this.#e.pendingBytes>0,this.#w(),this.#m()})}#U(){return-Math.log(1-this.#r.ran" +
  "dom())*this.#l}#k(e){this.#u=le(this.#u,this.#l,e);let r=this.#r.random()*H*this.#l;return Math.max((1-H)*this" +
  ".#l,this.#u-r-e)}#B(){for(;this.#e.pendingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"c" +
  "ellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#e.cellBytes=r.cellByt" +
  "es:(this.#i-=r.envelope.length+h,this.#e.push(r.lane,r.envelope))}}};function le(t,e,r){if(r<t-e)return r+e;le" +
  "t n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}function P(t,e){if(t.length!==e.length)return!1;let r=0;f" +
  "or(let n=0;n<t.length;n++)r|=(t[n]??0)^(e[n]??0);return r===0}function g(t){let e=[];for(let r=t;r!==void 0&&e" +
  ".length<3;r=r instanceof Error?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=" +
  ">o.includes(n))&&e.push(n)}return e.join(\": \")}var de=2e3;function K(t,e){let r,n,o=0,a=l=>{t.post({kind:\"writ" +
  "ten\",takenBytes:o-l.pendingBytes,counts:l.counts})},d=async({transport:l,target:c})=>{let y=e.connectors.find(" +
  "b=>b.transport===l);if(y===void 0)throw new Error(`no way to connect by ${l} in a thread of its own`);let A=r=" +
  "await y.connect(c,new AbortController().signal),G=n=new B({cellBytes:p.cellBytes,write:(b,Y)=>A.write(b,Y),aft" +
  "er:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,onWritten:()=>a(G" +
  "),onFailed:()=>t.post({kind:\"failed\"})});A.closed.then(b=>t.post({kind:\"closed\",end:b})),t.post({kind:\"connect" +
  "ed\"})},f=async()=>{let l=await r?.read();t.post({kind:\"chunk\",bytes:l?.slice()})};t.listen(l=>{switch(l.kind){" +
  "case\"connect\":return void d(l).catch(c=>t.post({kind:\"refused\",message:g(c)}));case\"push\":return o+=l.envelope" +
  ".length+h,n?.push(l.lane,l.envelope);case\"cellBytes\":return n?.setCellBytes(l.cellBytes);case\"configure\":retur" +
  "n n?.configure(l.mode,l.intervalMs);case\"covering\":return n?.setCovering(l.covering);case\"flush\":return void n" +
  "?.flush(l.timeoutMs).then(c=>{t.post({kind:\"flushed\",id:l.id,flushed:c})});case\"read\":return void f();case\"sto" +
  "p\":return n?.stop();case\"close\":return r?.close(l.closeCode),void e.after(de,e.exit)}})}var m=require(\"node:ht" +
  "tp2\");var v=5,ce=64*1024,D=10;function O(t,e){let r=he(D,e),n=v+r.length+e,o=new Uint8Array(t.length/e*n);for(" +
  "let a=0;a<t.length/e;a++){let d=a*n;ye(o,d+1,r.length+e),o.set(r,d+v),o.set(t.subarray(a*e,(a+1)*e),d+v+r.leng" +
  "th)}return o}function W(t){let{value:e,end:r}=ue(t,0,D);if(r!==t.length)throw new u(\"protocol_error\",\"A cell's" +
  " message holds more than a cell\");return e}var _=class{#r=new Uint8Array(v);#e=0;#t=new Uint8Array(0);#i=0;rea" +
  "d(e,r){let n=0;for(;n<e.length;){if(this.#e<v){let a=e.subarray(n,n+v-this.#e);if(this.#r.set(a,this.#e),this." +
  "#e+=a.length,n+=a.length,this.#e<v)return;this.#n()}let o=e.subarray(n,n+this.#t.length-this.#i);n+=o.length,o" +
  ".length===this.#t.length?this.#o(o,r):(this.#t.set(o,this.#i),this.#i+=o.length,this.#i===this.#t.length&&this" +
  ".#o(this.#t,r))}}#n(){let e=new DataView(this.#r.buffer).getUint32(1);if(e===0||e>ce)throw new u(\"protocol_err" +
  "or\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#" +
  "i=0}#o(e,r){this.#e=0,r(this.#r[0]??0,e)}};function q(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0))" +
  ",r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function he(t,e){let r=[t];for(let n=e;n>0||r.length===1;n" +
  ">>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function ue(t,e,r){if(t[e]!==r)throw new u(\"protocol" +
  "_error\",\"A message without the field that it must have\");let[n,o]=[0,e+1];for(let a=1;a<=2**14;a*=128){let d=t" +
  "[o++]??0;if(n+=(d&127)*a,d<128){if(n>t.length-o)break;return{value:t.subarray(o,o+n),end:o+n}}}throw new u(\"pr" +
  "otocol_error\",\"A field goes beyond the end of its message\")}function ye(t,e,r){new DataView(t.buffer,t.byteOff" +
  "set).setUint32(e,r)}var F=require(\"node:crypto\"),$=require(\"node:net\"),U=require(\"node:tls\");function N({host:" +
  "t,port:e,trust:r},n,o){return new Promise((a,d)=>{o.throwIfAborted();let f=r.certificateHashes.length>0,l=(0,U" +
  ".connect)({host:t,port:e,...(0,$.isIP)(t)===0&&{servername:t},ALPNProtocols:[n],minVersion:\"TLSv1.3\",...r.caCe" +
  "rts.length>0&&{ca:[...U.rootCertificates,...r.caCerts]},rejectUnauthorized:!f}),c=A=>{o.removeEventListener(\"a" +
  "bort\",y),l.destroy(),d(A)},y=()=>c(o.reason);o.addEventListener(\"abort\",y),l.once(\"error\",c),l.once(\"secureCon" +
  "nect\",()=>{if(f&&!pe(l,r))return c(new Error(\"the relay's certificate is none of tls.certificateHashes\"));if(l" +
  ".alpnProtocol!==n)return c(new Error(`the server does not speak ${n}`));o.removeEventListener(\"abort\",y),l.rem" +
  "oveListener(\"error\",c),a(l)})})}function pe(t,{certificateHashes:e}){let r=(0,F.createHash)(\"sha256\").update(t" +
  ".getPeerCertificate().raw).digest();return e.some(n=>P(n,r))}function j(){return Date.now()}function k(t,e){le" +
  "t r=setTimeout(e,t);return()=>clearTimeout(r)}function V(t){return crypto.getRandomValues(new Uint8Array(t))}v" +
  "ar z=1024*1024,fe=1500,J={transport:\"grpc\",carrier:\"tcp\",unusable:()=>{},connect:async(t,e)=>new S(await N(t,\"" +
  "h2\",e),t)},S=class{#r;#e;#t;#i=new _;#n;#o=()=>{};#a;closed;constructor(e,{host:r,port:n}){this.closed=new Pro" +
  "mise(o=>this.#o=o),this.#r=(0,m.connect)(`https://${r.includes(\":\")?`[${r}]`:r}:${n}`,{createConnection:()=>e," +
  "settings:{initialWindowSize:z,enablePush:!1}}),this.#r.once(\"connect\",()=>this.#r.setLocalWindowSize(z)),this." +
  "#r.on(\"error\",o=>this.#s({message:g(o)})),this.#r.on(\"goaway\",()=>this.#r.close()),this.#e=this.#r.request({[m" +
  ".constants.HTTP2_HEADER_METHOD]:\"POST\",[m.constants.HTTP2_HEADER_PATH]:\"/static.relay.v1.Relay/Session\",[m.con" +
  "stants.HTTP2_HEADER_CONTENT_TYPE]:\"application/grpc\",[m.constants.HTTP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"er" +
  "ror\",o=>this.#s({message:g(o)})),this.#e.on(\"response\",o=>this.#h(o)),this.#e.on(\"trailers\",o=>this.#u(o)),thi" +
  "s.#e.on(\"close\",()=>{this.#s({message:\"the connection was cut off\"}),this.#d()}),this.#t=this.#e[Symbol.asyncI" +
  "terator]()}async read(){try{for(;;){let{done:e,value:r}=await this.#t.next();if(e)break;let n=[];if(this.#i.re" +
  "ad(r,(o,a)=>{if(o!==0)throw new Error(\"compressed cells were not asked for\");n.push(W(a).slice())}),n.length>0" +
  ")return q(n)}}catch(e){this.#s({message:g(e)})}this.#l()}write(e,r){return new Promise((n,o)=>{if(this.#n!==vo" +
  "id 0)return o(new Error(this.#n.message));this.#e.write(O(e,r),a=>{if(!a)return n();this.#s({message:g(a)}),o(" +
  "a)})})}close(e){this.#o({message:\"it was closed by this side\"}),e===0?this.#l():this.#d()}#l(){this.#e.end(),t" +
  "his.#a??=k(fe,()=>this.#d())}#h(e){let r=e[m.constants.HTTP2_HEADER_STATUS];if(r!==200)return this.#s({message" +
  ":`Session was answered ${String(r)}`});e[\"grpc-status\"]!==void 0&&this.#u(e)}#u(e){let{\"grpc-status\":r,\"grpc-m" +
  "essage\":n}=e,o=typeof n==\"string\"&&n!==\"\"?me(n):\"the relay ended the stream\";this.#s({message:r===\"0\"?\"the rel" +
  "ay ended the stream\":o})}#s(e){this.#n===void 0&&(this.#n=e,this.#o(e),this.#l())}#d(){this.#a?.(),this.#a=()=" +
  ">{},this.#n??={message:\"it was closed by this side\"},this.#e.destroy(),this.#r.destroy()}};function me(t){try{" +
  "return decodeURIComponent(t).slice(0,1024)}catch{return t.slice(0,1024)}}K({post:t=>R.parentPort?.postMessage(" +
  "t),listen:t=>{R.parentPort?.on(\"message\",t)}},{connectors:[J],nowMs:j,after:k,randomBytes:V,exit:()=>Q.default" +
  ".exit()});\n";
