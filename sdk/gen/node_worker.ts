/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var Ue=Object.create;var oe=Object.defineProperty;var Se=Object.getOwnPropertyDescriptor;var Pe=Object.getOwnP" +
  "ropertyNames;var Me=Object.getPrototypeOf,Te=Object.prototype.hasOwnProperty;var Re=(n,e,r,t)=>{if(e&&typeof e" +
  "==\"object\"||typeof e==\"function\")for(let o of Pe(e))!Te.call(n,o)&&o!==r&&oe(n,o,{get:()=>e[o],enumerable:!(t=" +
  "Se(e,o))||t.enumerable});return n};var Oe=(n,e,r)=>(r=n!=null?Ue(Me(n)):{},Re(e||!n||!n.__esModule?oe(r,\"defau" +
  "lt\",{value:n,enumerable:!0}):r,n));var _e=Oe(require(\"node:process\")),ee=require(\"node:worker_threads\");var i=" +
  "{invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failed" +
  "Precondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},a=(n,e" +
  ",r,t)=>({http:n,grpc:e,close:r,errorClass:t,retryable:!1}),u=(...n)=>({...a(...n),retryable:!0}),B={join_timeo" +
  "ut:u(504,i.deadlineExceeded,257,\"TransportError\"),auth_failed:a(401,i.unauthenticated,258,\"AuthError\"),auth_ke" +
  "y_invalid:a(401,i.unauthenticated,259,\"AuthError\"),transport_error:u(502,i.unavailable,260,\"TransportError\"),c" +
  "onnection_error:u(502,i.unavailable,261,\"TransportError\"),listener_died:a(500,i.internal,262,\"TransportError\")" +
  ",channel_error:a(400,i.invalidArgument,263,\"ChannelError\"),quota_exceeded:a(429,i.resourceExhausted,264,\"Quota" +
  "ExceededError\"),mls_error:a(409,i.failedPrecondition,265,\"MlsError\"),invalid_request:a(400,i.invalidArgument,2" +
  "72,\"InvalidArgumentError\"),not_found:a(404,i.notFound,273,\"ChannelError\"),method_not_allowed:a(405,i.unimpleme" +
  "nted,274,\"InvalidArgumentError\"),payload_too_large:a(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupported_" +
  "media_type:a(415,i.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:u(429,i.resourceExhausted,277,\"Una" +
  "vailableError\"),internal:a(500,i.internal,278,\"InternalError\"),overloaded:u(503,i.unavailable,279,\"Unavailable" +
  "Error\"),email_taken:a(409,i.alreadyExists,288,\"AuthError\"),key_limit_reached:a(409,i.resourceExhausted,289,\"Au" +
  "thError\"),account_suspended:a(403,i.permissionDenied,290,\"AuthError\"),conflict:a(409,i.aborted,291,\"AuthError\"" +
  "),code_invalid:a(400,i.invalidArgument,292,\"AuthError\"),csrf_failed:a(403,i.permissionDenied,293,\"AuthError\")," +
  "protocol_error:a(400,i.invalidArgument,304,\"TransportError\"),unsupported_version:a(400,i.failedPrecondition,30" +
  "5,\"TransportError\"),unknown_operation:a(404,i.unimplemented,306,\"TransportError\"),session_expired:a(401,i.unau" +
  "thenticated,307,\"AuthError\"),session_replaced:a(409,i.aborted,308,\"TransportError\"),slow_reader:u(429,i.resour" +
  "ceExhausted,309,\"UnavailableError\"),relay_draining:u(503,i.unavailable,310,\"UnavailableError\"),certificate_cha" +
  "nged:a(502,i.failedPrecondition,311,\"TransportError\"),name_taken:a(409,i.alreadyExists,320,\"ChannelError\"),epo" +
  "ch_conflict:u(409,i.aborted,321,\"MlsError\"),not_allowed:a(403,i.permissionDenied,322,\"ChannelError\"),member_li" +
  "mit_reached:a(409,i.resourceExhausted,323,\"ChannelError\"),already_member:a(409,i.alreadyExists,324,\"ChannelErr" +
  "or\"),identity_present:a(409,i.alreadyExists,356,\"ChannelError\"),queue_full:u(429,i.resourceExhausted,325,\"Chan" +
  "nelError\"),cursor_invalid:a(416,i.outOfRange,326,\"ChannelError\"),key_package_invalid:a(400,i.invalidArgument,3" +
  "27,\"MlsError\"),key_package_missing:u(404,i.failedPrecondition,328,\"MlsError\"),join_rejected:a(403,i.permission" +
  "Denied,329,\"ChannelError\"),membership_lapsed:a(410,i.failedPrecondition,330,\"ChannelError\"),state_conflict:a(4" +
  "09,i.failedPrecondition,331,\"MlsError\"),storage_full:u(507,i.resourceExhausted,332,\"ChannelError\"),link_invali" +
  "d:a(400,i.invalidArgument,333,\"InvalidArgumentError\"),removed:a(410,i.failedPrecondition,355,\"RemovedError\"),m" +
  "embers_must_update:a(409,i.failedPrecondition,334,\"ChannelError\"),successor_needed:a(409,i.failedPrecondition," +
  "335,\"ChannelError\"),content_invalid:a(400,i.invalidArgument,352,\"ChannelError\"),request_timeout:u(504,i.deadli" +
  "neExceeded,353,\"TransportError\"),remote_error:a(502,i.aborted,354,\"RemoteError\"),store_locked:u(409,i.failedPr" +
  "econdition,336,\"StoreError\"),store_corrupt:a(500,i.internal,337,\"StoreError\"),store_failed:a(500,i.internal,33" +
  "9,\"StoreError\"),passphrase_wrong:a(401,i.unauthenticated,338,\"StoreError\")};function C(n){return Object.hasOwn" +
  "(B,n)}var Xe=new Map(Object.entries(B).flatMap(([n,{close:e}])=>C(n)?[[e,n]]:[])),f=class extends Error{name=\"" +
  "WireError\";code;requestId;constructor(e,r,t={}){super(r,t.cause===void 0?void 0:{cause:t.cause}),this.code=e,t" +
  "his.requestId=t.requestId}};var p=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBy" +
  "tes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeByte" +
  "s:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768" +
  ",membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3," +
  "proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChangeBytes:2048,admissions:16,claimsForFoundin" +
  "g:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8192,or" +
  "iginBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameByte" +
  "s:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,c" +
  "ontentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConfirmati" +
  "onBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs" +
  ":6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5})" +
  ";var v=3,y=4,k=2,D={control:0,data:1};function P(n){if(!Number.isInteger(n)||n<p.minCellBytes||n>p.maxCellByte" +
  "s)throw new f(\"protocol_error\",`A cell has ${p.minCellBytes} to ${p.maxCellBytes} bytes, not ${n}`);return n}f" +
  "unction M(n){if(n===0||n>p.envelopeBytes)throw new f(\"payload_too_large\",`Cannot send an envelope of ${n} byte" +
  "s; 1 to ${p.envelopeBytes} are allowed`)}var _=class{#r;#e=[];#t=[];#o=[0,0];#n=0;constructor(e){this.#r=P(e)}" +
  "set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell size while envelopes are waiting\");t" +
  "his.#r=P(e)}get cellBytes(){return this.#r}get pendingBytes(){return this.#n}push(e,r){M(r.length),(e===\"contr" +
  "ol\"?this.#e:this.#t).push(r),this.#n+=r.length+y}next(e){let r=this.#e.length>0?D.control:D.data,t=r===D.contr" +
  "ol?this.#e:this.#t;if(t.length===0)return;let o=e?.length===this.#r?e:new Uint8Array(this.#r);return this.#i(o" +
  ",t,r),o}#i(e,r,t){let o=v,s=0,l=this.#o[t]??0;for(let h of r){if(l===0){if(e.length-o<=y)break;Ie(e,o,h.length" +
  "),o+=y,l=y}let d=l-y,c=h.subarray(d,d+e.length-o);if(e.set(c,o),o+=c.length,l+=c.length,l-y<h.length)break;s++" +
  ",l=0}let x=o-v;s===1?r.shift():r.splice(0,s),this.#o[t]=l,this.#n-=x,e[0]=t,e[1]=x>>8,e[2]=x&255,e.fill(0,o)}}" +
  ";function F(n,e,r){let t=e+k;return n.set(r,t),n[e]=r.length>>8,n[e+1]=r.length&255,t+r.length}function Ie(n,e" +
  ",r){n[e]=r>>>24,n[e+1]=r>>>16,n[e+2]=r>>>8,n[e+3]=r}var Ke=64*1024,ie=.5,Le=2,U=class{#r;#e;#t=[];#o=0;#n=0;#i" +
  "=new Uint8Array(0);#s=\"off\";#a=0;#u;#h=0;#d=!0;#l=!1;#f=!1;#c=!1;#p=new Set;#y={cells:0,coverCells:0,coverByte" +
  "s:0,paddingBytes:0};constructor(e){this.#r=e,this.#e=new _(e.cellBytes)}get pendingBytes(){return this.#e.pend" +
  "ingBytes+this.#o+this.#n}get counts(){return{...this.#y}}push(e,r){this.#c||(this.#t.length===0?this.#e.push(e" +
  ",r):(M(r.length),this.#t.push({lane:e,envelope:r}),this.#o+=r.length+y),this.#m())}setCellBytes(e){this.#t.pus" +
  "h({cellBytes:P(e)}),this.#w()}configure(e,r){if(!this.#c){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover nee" +
  "ds an interval above 0, not ${r}`);this.#u?.(),this.#u=void 0,this.#s=e,this.#a=r,this.#l=!1,this.#h=this.#r.n" +
  "owMs(),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){return this.#c?Promise.resolve(this.p" +
  "endingBytes===0):!this.#f&&this.pendingBytes===0?Promise.resolve(!0):new Promise(r=>{let t=s=>{this.#p.delete(" +
  "t),o(),r(s)},o=this.#r.after(e,()=>t(!1));this.#p.add(t)})}stop(){this.#c=!0,this.#u?.(),this.#u=void 0,this.#" +
  "i=new Uint8Array(0);for(let e of this.#p)e(!1)}#m(){this.#f||this.#c||!this.#x()||(this.#f=!0,this.#C())}#x(){" +
  "return this.#l||this.#s!==\"constant\"&&this.#e.pendingBytes>0}async#C(){await void 0;try{for(;!this.#c&&this.#x" +
  "();){let e=this.#s===\"constant\"?this.#_():this.#k();if(await this.#r.write(e,this.#e.cellBytes),this.#n=0,this" +
  ".#c)break;this.#w(),this.#r.onWritten?.()}}catch(e){this.#n=0;let r=this.#c;this.stop(),r||this.#r.onFailed?.(" +
  "e)}this.#f=!1,this.#B()}#B(){if(!(this.#c||this.pendingBytes>0)){this.#i.length>Le*this.#e.cellBytes&&(this.#i" +
  "=new Uint8Array(0));for(let e of this.#p)e(!0)}}#_(){this.#l=!1;let e=this.#g(1);return this.#b(e)?e:this.#v(e" +
  ")}#k(){let{cellBytes:e,pendingBytes:r}=this.#e;if(r===0)return this.#l=!1,this.#v(this.#g(1));let t=Math.ceil(" +
  "r/(e-v))+1,o=this.#g(Math.min(t,Math.max(1,Math.floor(Ke/e)))),s=0;for(;s<o.length&&this.#b(o.subarray(s,s+e))" +
  ";)s+=e;return o.subarray(0,s)}#g(e){let r=e*this.#e.cellBytes;return this.#i.length<r&&(this.#i=new Uint8Array" +
  "(r)),this.#i.subarray(0,r)}#b(e){let r=this.#e.pendingBytes;if(this.#e.next(e)===void 0)return!1;let t=r-this." +
  "#e.pendingBytes;return this.#n+=t,this.#y.cells++,this.#y.paddingBytes+=e.length-v-t,this.#E(e,v+t),!0}#v(e){r" +
  "eturn this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,this.#E(e.fill(0),v),e}#E(e,r){let{rid" +
  "er:t}=this.#r;if(t!==void 0)for(let o=r;e.length-o>k;){let s=t(e.length-o-k);if(s===void 0)return;o=F(e,o,s)}}" +
  "#A(){let e=this.#r.nowMs();this.#u=this.#r.after(this.#s===\"poisson\"?this.#U():this.#S(e),()=>{this.#l=this.#d" +
  "||this.#s===\"constant\"&&this.#e.pendingBytes>0,this.#A(),this.#m()})}#U(){return-Math.log(1-this.#r.random())*" +
  "this.#a}#S(e){this.#h=He(this.#h,this.#a,e);let r=this.#r.random()*ie*this.#a;return Math.max((1-ie)*this.#a,t" +
  "his.#h-r-e)}#w(){for(;this.#e.pendingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,t)=>t>0&&\"cellBy" +
  "tes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#e.cellBytes=r.cellBytes:(t" +
  "his.#o-=r.envelope.length+y,this.#e.push(r.lane,r.envelope))}}};function He(n,e,r){if(r<n-e)return r+e;let t=M" +
  "ath.max(0,Math.floor((r-n)/e));return n+(t+1)*e}function W(n,e){if(n.length!==e.length)return!1;let r=0;for(le" +
  "t t=0;t<n.length;t++)r|=(n[t]??0)^(e[t]??0);return r===0}function A(n){let e=[];for(let r=n;r!==void 0&&e.leng" +
  "th<3;r=r instanceof Error?r.cause:void 0){let t=r instanceof Error?r.message:String(r);t!==\"\"&&!e.some(o=>o.in" +
  "cludes(t))&&e.push(t)}return e.join(\": \")}var T=class{#r=new Map;offer(e,r){this.#r.delete(e),this.#r.set(e,r)" +
  "}take(e){for(let[r,t]of this.#r)if(!(t.length>e))return this.#r.delete(r),t}};var De=2e3;function se(n,e){let " +
  "r,t,o=0,s=new T,l=d=>{n.post({kind:\"written\",takenBytes:o-d.pendingBytes,counts:d.counts})},x=async({transport" +
  ":d,target:c,isTapped:H})=>{let re=e.connectors.find(b=>b.transport===d);if(re===void 0)throw new Error(`no way" +
  " to connect by ${d} in a thread of its own`);let te=r=await re.connect(c,new AbortController().signal),ke=t=ne" +
  "w U({cellBytes:p.cellBytes,write:(b,ne)=>(H&&n.post({kind:\"sent\",cells:b.slice(),cellBytes:ne}),te.write(b,ne)" +
  "),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:b=>s.t" +
  "ake(b),onWritten:()=>l(ke),onFailed:()=>n.post({kind:\"failed\"})});te.closed.then(b=>n.post({kind:\"closed\",end:" +
  "b})),n.post({kind:\"connected\"})},h=async()=>{let d=await r?.read();n.post({kind:\"chunk\",bytes:d?.slice()})};n." +
  "listen(d=>{switch(d.kind){case\"connect\":return void x(d).catch(c=>n.post({kind:\"refused\",message:A(c)}));case\"" +
  "push\":return o+=d.envelope.length+y,t?.push(d.lane,d.envelope);case\"offer\":return s.offer(d.key,d.envelope);ca" +
  "se\"cellBytes\":return t?.setCellBytes(d.cellBytes);case\"configure\":return t?.configure(d.mode,d.intervalMs);cas" +
  "e\"covering\":return t?.setCovering(d.covering);case\"flush\":return void t?.flush(d.timeoutMs).then(c=>{n.post({k" +
  "ind:\"flushed\",id:d.id,flushed:c})});case\"read\":return void h();case\"stop\":return t?.stop();case\"close\":return " +
  "r?.close(d.closeCode),void e.after(De,e.exit)}})}var E=require(\"node:http2\");var g=class extends Error{name=\"S" +
  "taticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;members;constructor(e,r,t={}){super(r,t.caus" +
  "e===void 0?void 0:{cause:t.cause}),this.code=e,this.retryable=t.retryable??B[e].retryable,this.retryAfterMs=t." +
  "retryAfterMs,this.epoch=t.epoch,this.channel=t.channel,this.unreachable=t.unreachable,this.members=t.members}}" +
  ",S=class extends g{name=\"TransportError\"},N=class extends S{name=\"UnavailableError\"},q=class extends S{name=\"I" +
  "nternalError\"},j=class extends g{name=\"AuthError\"},R=class extends g{name=\"ChannelError\"},$=class extends R{na" +
  "me=\"RemovedError\";by;atMs;constructor(e,r,t={}){super(e,r,t),this.by=t.by,this.atMs=t.atMs}},V=class extends g" +
  "{name=\"QuotaExceededError\"},z=class extends g{name=\"MlsError\"},J=class extends g{name=\"InvalidArgumentError\"}," +
  "G=class extends g{name=\"StoreError\"},Q=class extends g{name=\"RemoteError\";remoteCode;constructor(e,{remoteCode" +
  ":r=\"failed\",...t}={}){super(\"remote_error\",e,t),this.remoteCode=r}};function m(n){return(e,r,t)=>new n(e,r,t)}" +
  "var Cr={TransportError:m(S),AuthError:m(j),ChannelError:m(R),QuotaExceededError:m(V),MlsError:m(z),InvalidArgu" +
  "mentError:m(J),StoreError:m(G),UnavailableError:m(N),RemovedError:m($),RemoteError:(n,e,r)=>new Q(e,r),Interna" +
  "lError:m(q)};function ae(n,e){return e!==void 0&&C(e)?e:n===429?\"rate_limited\":n===503?\"overloaded\":void 0}var" +
  " w=5,Fe=64*1024,de=10,Y=new TextDecoder;function le(n,e){let r=We(de,e),t=w+r.length+e,o=new Uint8Array(n.leng" +
  "th/e*t);for(let s=0;s<n.length/e;s++){let l=s*t;Ne(o,l+1,r.length+e),o.set(r,l+w),o.set(n.subarray(s*e,(s+1)*e" +
  "),l+w+r.length)}return o}function ce(n){let{value:e,end:r}=fe(n,0,de);if(r!==n.length)throw new f(\"protocol_er" +
  "ror\",\"A cell's message holds more than a cell\");return e}function ue(n){let e={code:\"\",message:\"\"};for(let{fie" +
  "ld:r,value:t}of X(n))r===4&&typeof t==\"number\"&&(e={...e,retryAfterMs:t}),typeof t!=\"number\"&&(r===1&&(e={...e" +
  ",code:Y.decode(t)}),r===2&&(e={...e,message:Y.decode(t)}));return e}function*he(n){for(let{field:e,value:r}of " +
  "X(n)){if(e!==3||typeof r==\"number\")continue;let[t,o]=[\"\",new Uint8Array];for(let s of X(r))typeof s.value!=\"nu" +
  "mber\"&&(s.field===1&&(t=Y.decode(s.value).replace(/^.*\\//,\"\")),s.field===2&&(o=s.value.slice()));yield{type:t," +
  "value:o}}}var O=class{#r=new Uint8Array(w);#e=0;#t=new Uint8Array(0);#o=0;read(e,r){let t=0;for(;t<e.length;){" +
  "if(this.#e<w){let s=e.subarray(t,t+w-this.#e);if(this.#r.set(s,this.#e),this.#e+=s.length,t+=s.length,this.#e<" +
  "w)return;this.#n()}let o=e.subarray(t,t+this.#t.length-this.#o);t+=o.length,o.length===this.#t.length?this.#i(" +
  "o,r):(this.#t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&this.#i(this.#t,r))}}#n(){let e=new D" +
  "ataView(this.#r.buffer).getUint32(1);if(e===0||e>Fe)throw new f(\"protocol_error\",`A message of ${e} bytes wher" +
  "e cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#o=0}#i(e,r){this.#e=0,r(this.#r[0" +
  "]??0,e)}};function ye(n){let e=new Uint8Array(n.reduce((t,{length:o})=>t+o,0)),r=0;for(let t of n)e.set(t,r),r" +
  "+=t.length;return e}function We(n,e){let r=[n];for(let t=e;t>0||r.length===1;t>>>=7)r.push(t>127?t&127|128:t);" +
  "return Uint8Array.from(r)}function fe(n,e,r){if(n[e]!==r)throw new f(\"protocol_error\",\"A message without the f" +
  "ield that it must have\");let{value:t,end:o}=pe(n,e+1);if(t>n.length-o)throw me();return{value:n.subarray(o,o+t" +
  "),end:o+t}}function*X(n){for(let e=0;e<n.length;){let r=n[e]??0,{value:t,end:o}=(r&7)===0?pe(n,e+1):fe(n,e,r&-" +
  "8|2);yield{field:r>>3,value:t},e=o}}function pe(n,e){let r=0;for(let[t,o]=[1,e];o<n.length&&t<2**63;t*=128){le" +
  "t s=n[o++]??0;if(r+=(s&127)*t,s<128)return{value:r,end:o}}throw me()}function me(){return new f(\"protocol_erro" +
  "r\",\"A field goes beyond the end of its message\")}function Ne(n,e,r){new DataView(n.buffer,n.byteOffset).setUin" +
  "t32(e,r)}var qe=\"static.relay.v1.ErrorDetail\";function ge(n,e){try{for(let{type:r,value:t}of he($e(n))){let o=" +
  "r===qe?je(()=>t):void 0;if(o!==void 0)return o}}catch{}return{message:e}}function xe(n,e,{message:r,...t}){let" +
  " o=ae(n);if(o===void 0)return{message:r};if(t.code!==void 0)return{message:r,...t};let s=typeof e==\"string\"?Nu" +
  "mber(e)*1e3:NaN;return{code:o,message:r,...s>=0&&{retryAfterMs:s}}}function je(n){try{let{code:e,message:r,ret" +
  "ryAfterMs:t}=ue(n());return C(e)?{code:e,message:r,...t!==void 0&&{retryAfterMs:t}}:void 0}catch{return}}funct" +
  "ion $e(n){return Uint8Array.from(atob(n),e=>e.charCodeAt(0))}var be=require(\"node:crypto\"),ve=require(\"node:ne" +
  "t\"),I=require(\"node:tls\");function Ee({host:n,port:e,trust:r},t,o){return new Promise((s,l)=>{o.throwIfAborted" +
  "();let x=r.certificateHashes.length>0,h=(0,I.connect)({host:n,port:e,...(0,ve.isIP)(n)===0&&{servername:n},ALP" +
  "NProtocols:[t],minVersion:\"TLSv1.3\",...r.caCerts.length>0&&{ca:[...I.rootCertificates,...r.caCerts]},rejectUna" +
  "uthorized:!x}),d=H=>{o.removeEventListener(\"abort\",c),h.destroy(),l(H)},c=()=>d(o.reason);o.addEventListener(\"" +
  "abort\",c),h.on(\"error\",d),h.once(\"secureConnect\",()=>{if(x&&!Ve(h,r))return d(new Error(\"the relay's certifica" +
  "te is none of tls.certificateHashes\"));if(h.alpnProtocol!==t)return d(new Error(`the server does not speak ${t" +
  "}`));o.removeEventListener(\"abort\",c),s(h)})})}function Ve(n,{certificateHashes:e}){let r=(0,be.createHash)(\"s" +
  "ha256\").update(n.getPeerCertificate().raw).digest();return e.some(t=>W(t,r))}var K=class{#r=new Map;#e;#t=1/0;" +
  "#o=0;after(e,r){let t=Math.ceil((performance.now()+e)/250),o={run:r},s=this.#r.get(t);return s===void 0?this.#" +
  "r.set(t,new Set([o])):s.add(o),this.#o++,t<this.#t?this.#s(t):this.#o===1&&this.#i(!0),()=>{this.#n(t,o)}}#n(e" +
  ",r){let t=this.#r.get(e);return t===void 0||!t.delete(r)?!1:(t.size===0&&this.#r.delete(e),this.#o--,this.#o==" +
  "=0&&this.#i(!1),!0)}#i(e){typeof this.#e==\"object\"&&(e?this.#e.ref():this.#e.unref())}#s(e){clearTimeout(this." +
  "#e),this.#t=e;let r=Math.max(0,e*250-performance.now());this.#e=setTimeout(()=>this.#a(),Math.min(r,2147483647" +
  "))}#a(){this.#e=void 0,this.#t=1/0;let e=performance.now(),r=1/0;for(let[t,o]of this.#r)if(t*250>e)r=Math.min(" +
  "r,t);else for(let s of o)queueMicrotask(()=>this.#n(t,s)&&s.run());r<1/0&&this.#s(r)}};function Ae(){return Da" +
  "te.now()}var ze=5e3,Je=new K;function L(n,e){if(n>=ze)return Je.after(n,e);let r=setTimeout(e,n);return()=>cle" +
  "arTimeout(r)}function we(n){return crypto.getRandomValues(new Uint8Array(n))}var Ce=1024*1024,Ge=1500,Be={tran" +
  "sport:\"grpc\",carrier:\"tcp\",unusable:()=>{},connect:async(n,e)=>new Z(await Ee(n,\"h2\",e),n)},Z=class{#r;#e;#t;#" +
  "o=new O;#n;#i=()=>{};#s;closed;constructor(e,{host:r,port:t}){this.closed=new Promise(o=>this.#i=o),this.#r=(0" +
  ",E.connect)(`https://${r.includes(\":\")?`[${r}]`:r}:${t}`,{createConnection:()=>e,settings:{initialWindowSize:C" +
  "e,enablePush:!1}}),this.#r.once(\"connect\",()=>this.#r.setLocalWindowSize(Ce)),this.#r.on(\"error\",o=>this.#d({m" +
  "essage:A(o)})),this.#r.on(\"goaway\",()=>this.#r.close()),this.#e=this.#r.request({[E.constants.HTTP2_HEADER_MET" +
  "HOD]:\"POST\",[E.constants.HTTP2_HEADER_PATH]:\"/static.relay.v1.Relay/Session\",[E.constants.HTTP2_HEADER_CONTENT" +
  "_TYPE]:\"application/grpc\",[E.constants.HTTP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#d({message:A(" +
  "o)})),this.#e.on(\"response\",o=>this.#u(o)),this.#e.on(\"trailers\",o=>this.#h(o)),this.#e.on(\"close\",()=>{this.#" +
  "d({message:\"the connection was cut off\"}),this.#l()}),this.#t=this.#e[Symbol.asyncIterator]()}async read(){try" +
  "{for(;;){let{done:e,value:r}=await this.#t.next();if(e)break;let t=[];if(this.#o.read(r,(o,s)=>{if(o!==0)throw" +
  " new Error(\"compressed cells were not asked for\");t.push(ce(s).slice())}),t.length>0)return ye(t)}}catch(e){th" +
  "is.#d({message:A(e)})}this.#a()}write(e,r){return new Promise((t,o)=>{if(this.#n!==void 0)return o(new Error(t" +
  "his.#n.message));this.#e.write(le(e,r),s=>{if(!s)return t();this.#d({message:A(s)}),o(s)})})}close(e){this.#i(" +
  "{message:\"it was closed by this side\"}),e===0?this.#a():this.#l()}#a(){this.#e.end(),this.#s??=L(Ge,()=>this.#" +
  "l())}#u(e){let r=e[E.constants.HTTP2_HEADER_STATUS];if(r!==200){let t=`The relay returned HTTP status ${String" +
  "(r)} for Session`;return this.#d(xe(r,e[\"retry-after\"],{message:t}))}e[\"grpc-status\"]!==void 0&&this.#h(e)}#h(" +
  "e){let{\"grpc-status\":r,\"grpc-message\":t,\"grpc-status-details-bin\":o}=e,s=typeof t==\"string\"&&t!==\"\"?Qe(t):\"the" +
  " relay ended the stream\";if(r===\"0\")return this.#d({message:\"the relay ended the stream\"});this.#d(ge(typeof o" +
  "==\"string\"?o:\"\",s))}#d(e){this.#n===void 0&&(this.#n=e,this.#i(e),this.#a())}#l(){this.#s?.(),this.#s=()=>{},t" +
  "his.#n??={message:\"it was closed by this side\"},this.#e.destroy(),this.#r.destroy()}};function Qe(n){try{retur" +
  "n decodeURIComponent(n).slice(0,1024)}catch{return n.slice(0,1024)}}se({post:n=>ee.parentPort?.postMessage(n)," +
  "listen:n=>{ee.parentPort?.on(\"message\",n)}},{connectors:[Be],nowMs:Ae,after:L,randomBytes:we,exit:()=>_e.defau" +
  "lt.exit()});\n";
