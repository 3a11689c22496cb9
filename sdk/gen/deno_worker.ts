/** Built from sdk/platform/deno_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "function Ge(r){let e;return()=>e??=r()}var Ve=\"[\\\\u0600-\\\\u0dff\\\\u1000-\\\\u109f\\\\u1780-\\\\u17ff]\",Je=\"\\\\p{Extend" +
  "ed_Pictographic}[\\\\ufe0f\\\\p{Emoji_Modifier}]?\",jt=[`${Je}(?:\\\\u200d${Je})*`,\"[0-9#*]\\\\ufe0f\\\\u20e3\",`(?<=${Ve}" +
  ")[\\\\u200c\\\\u200d](?=${Ve})`,\"(?<=[\\\\p{L}\\\\p{N}\\\\p{P}\\\\p{S}])(?:(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{M}){1," +
  "4}\"].join(\"|\"),Qt=\"\\\\p{C}\\\\p{Zl}\\\\p{Zp}\\\\p{M}\\\\p{Default_Ignorable_Code_Point}\\\\u2800\",Vt=\"(?! )\\\\p{Zs}|^ |(?<" +
  "= ) | $|\\\\\\\\(?=u\\\\{[0-9a-f]+\\\\})\",Jt=Ge(()=>new RegExp(`(${jt})|[${Qt}]|${Vt}`,\"gu\")),Be=\"!-[\\\\]-~\\\\u00a1-\\\\u0" +
  "0ac\\\\u00ae-\\\\u02ff\\\\u2010-\\\\u2027\\\\u2190-\\\\u21ff\\\\u2500-\\\\u259f\\\\u2713\\\\u2717\",Gt=new RegExp(`^[${Be}]+(?: [${" +
  "Be}]+)*$`),on=new RegExp(`^[${Be} \\\\\\\\\\\\n\\\\t]*$`);var Zt=/^[\\p{Zs}\\\\]/u;function Yt(r,e){return r.replace(Jt()" +
  ",(t,n)=>n??(e.test(t)?t:Xt(t)))}function Xt(r){return`\\\\u{${r.codePointAt(0)?.toString(16)}}`}function Z(r){re" +
  "turn Gt.test(r)?r:Yt(r,Zt)}var er=[...\"Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu K" +
  "nda Mlym Sinh Thai Laoo Tibt Mymr Geor Ethi Khmr\".split(\" \").map(r=>[r]),[\"Latn\",\"Hani\",\"Hira\",\"Kana\"],[\"Latn\"" +
  ",\"Hani\",\"Bopo\"],[\"Latn\",\"Hani\",\"Hang\"]],sn=Ge(()=>{let r=er.map(e=>e.map(t=>`\\\\p{scx=${t}}`).join(\"\"));return " +
  "new RegExp(r.map(e=>`^[\\\\p{sc=Zyyy}\\\\p{sc=Zinh}${e}]*$`).join(\"|\"),\"u\")});var d={invalidArgument:3,deadlineExc" +
  "eeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondition:9,aborted:10,outO" +
  "fRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},c=(r,e,t,n)=>({http:r,grpc:e,close:t" +
  ",errorClass:n,retryable:!1}),b=(...r)=>({...c(...r),retryable:!0}),N={join_timeout:b(504,d.deadlineExceeded,25" +
  "7,\"TransportError\"),auth_failed:c(401,d.unauthenticated,258,\"AuthError\"),auth_key_invalid:c(401,d.unauthentica" +
  "ted,259,\"AuthError\"),transport_error:b(502,d.unavailable,260,\"TransportError\"),connection_error:b(502,d.unavai" +
  "lable,261,\"TransportError\"),listener_died:c(500,d.internal,262,\"TransportError\"),channel_error:c(400,d.invalid" +
  "Argument,263,\"ChannelError\"),quota_exceeded:c(429,d.resourceExhausted,264,\"QuotaExceededError\"),mls_error:c(40" +
  "9,d.failedPrecondition,265,\"MlsError\"),invalid_request:c(400,d.invalidArgument,272,\"InvalidArgumentError\"),not" +
  "_found:c(404,d.notFound,273,\"ChannelError\"),method_not_allowed:c(405,d.unimplemented,274,\"InvalidArgumentError" +
  "\"),payload_too_large:c(413,d.outOfRange,275,\"InvalidArgumentError\"),unsupported_media_type:c(415,d.invalidArgu" +
  "ment,276,\"InvalidArgumentError\"),rate_limited:b(429,d.resourceExhausted,277,\"UnavailableError\"),internal:c(500" +
  ",d.internal,278,\"InternalError\"),overloaded:b(503,d.unavailable,279,\"UnavailableError\"),email_taken:c(409,d.al" +
  "readyExists,288,\"AuthError\"),key_limit_reached:c(409,d.resourceExhausted,289,\"AuthError\"),account_suspended:c(" +
  "403,d.permissionDenied,290,\"AuthError\"),conflict:c(409,d.aborted,291,\"AuthError\"),code_invalid:c(400,d.invalid" +
  "Argument,292,\"AuthError\"),csrf_failed:c(403,d.permissionDenied,293,\"AuthError\"),protocol_error:c(400,d.invalid" +
  "Argument,304,\"TransportError\"),unsupported_version:c(400,d.failedPrecondition,305,\"TransportError\"),unknown_op" +
  "eration:c(404,d.unimplemented,306,\"TransportError\"),session_expired:c(401,d.unauthenticated,307,\"AuthError\"),s" +
  "ession_replaced:c(409,d.aborted,308,\"TransportError\"),slow_reader:b(429,d.resourceExhausted,309,\"UnavailableEr" +
  "ror\"),relay_draining:b(503,d.unavailable,310,\"UnavailableError\"),certificate_changed:c(502,d.failedPreconditio" +
  "n,311,\"TransportError\"),name_taken:c(409,d.alreadyExists,320,\"ChannelError\"),epoch_conflict:b(409,d.aborted,32" +
  "1,\"MlsError\"),not_allowed:c(403,d.permissionDenied,322,\"ChannelError\"),member_limit_reached:c(409,d.resourceEx" +
  "hausted,323,\"ChannelError\"),already_member:c(409,d.alreadyExists,324,\"ChannelError\"),identity_present:c(409,d." +
  "alreadyExists,356,\"ChannelError\"),queue_full:b(429,d.resourceExhausted,325,\"ChannelError\"),cursor_invalid:c(41" +
  "6,d.outOfRange,326,\"ChannelError\"),key_package_invalid:c(400,d.invalidArgument,327,\"MlsError\"),key_package_mis" +
  "sing:b(404,d.failedPrecondition,328,\"MlsError\"),join_rejected:c(403,d.permissionDenied,329,\"ChannelError\"),mem" +
  "bership_lapsed:c(410,d.failedPrecondition,330,\"ChannelError\"),state_conflict:c(409,d.failedPrecondition,331,\"M" +
  "lsError\"),storage_full:b(507,d.resourceExhausted,332,\"ChannelError\"),link_invalid:c(400,d.invalidArgument,333," +
  "\"InvalidArgumentError\"),removed:c(410,d.failedPrecondition,355,\"RemovedError\"),members_must_update:c(409,d.fai" +
  "ledPrecondition,334,\"ChannelError\"),successor_needed:c(409,d.failedPrecondition,335,\"ChannelError\"),choice_nee" +
  "ded:c(409,d.failedPrecondition,357,\"ChannelError\"),not_attested:c(403,d.permissionDenied,358,\"ChannelError\"),m" +
  "embers_not_attested:c(409,d.failedPrecondition,359,\"ChannelError\"),content_invalid:c(400,d.invalidArgument,352" +
  ",\"ChannelError\"),request_timeout:b(504,d.deadlineExceeded,353,\"TransportError\"),remote_error:c(502,d.aborted,3" +
  "54,\"RemoteError\"),store_locked:b(409,d.failedPrecondition,336,\"StoreError\"),store_corrupt:c(500,d.internal,337" +
  ",\"StoreError\"),store_full:c(507,d.resourceExhausted,340,\"StoreError\"),store_failed:c(500,d.internal,339,\"Store" +
  "Error\"),passphrase_wrong:c(401,d.unauthenticated,338,\"StoreError\")};function z(r){return Object.hasOwn(N,r)}fu" +
  "nction Se(r){return tr.get(r)}var tr=new Map(Object.entries(N).flatMap(([r,{close:e}])=>z(r)?[[e,r]]:[])),v=cl" +
  "ass extends Error{name=\"WireError\";code;requestId;constructor(e,t,n={}){super(Z(t),n.cause===void 0?void 0:{ca" +
  "use:n.cause}),this.code=e,this.requestId=n.requestId}};var C=Object.freeze({cellBytes:4096,minCellBytes:1024,m" +
  "axCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcom" +
  "eBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384," +
  "cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPag" +
  "e:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,issuersPerChannel:16,issue" +
  "rsBytes:1024,badgeAttributesBytes:128,ownersChangeBytes:2048,admissions:16,claimsForFounding:100,confirmations" +
  "PerPage:10,unconfirmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessi" +
  "onTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:25" +
  "4,contentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,co" +
  "ntentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConfirmationBytes:120,content" +
  "Receipts:64,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs" +
  ":6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5})" +
  ";function ke(r,e){if(r.length!==e.length)return!1;let t=0;for(let n=0;n<r.length;n++)t|=(r[n]??0)^(e[n]??0);re" +
  "turn t===0}var I=3,w=4,X=2,Ue={control:0,data:1};function ue(r){if(!Number.isInteger(r)||r<C.minCellBytes||r>C" +
  ".maxCellBytes)throw new v(\"protocol_error\",`A cell has ${C.minCellBytes} to ${C.maxCellBytes} bytes, not ${r}`" +
  ");return r}function he(r){if(r===0||r>C.envelopeBytes)throw new v(\"payload_too_large\",`Cannot send an envelope" +
  " of ${r} bytes; 1 to ${C.envelopeBytes} are allowed`)}var Y=class{#e;#t=[];#r=[];#n=[0,0];#o=0;constructor(e){" +
  "this.#e=ue(e)}set cellBytes(e){if(this.#o>0)throw new TypeError(\"Cannot change the cell size while envelopes a" +
  "re waiting\");this.#e=ue(e)}get cellBytes(){return this.#e}get pendingBytes(){return this.#o}push(e,t){he(t.len" +
  "gth),(e===\"control\"?this.#t:this.#r).push(t),this.#o+=t.length+w}next(e){let t=this.#t.length>0?Ue.control:Ue." +
  "data,n=t===Ue.control?this.#t:this.#r;if(n.length===0)return;let o=e?.length===this.#e?e:new Uint8Array(this.#" +
  "e);return this.#i(o,n,t),o}#i(e,t,n){let o=I,i=0,s=this.#n[n]??0;for(let u of t){if(s===0){if(e.length-o<=w)br" +
  "eak;rr(e,o,u.length),o+=w,s=w}let a=s-w,h=u.subarray(a,a+e.length-o);if(e.set(h,o),o+=h.length,s+=h.length,s-w" +
  "<u.length)break;i++,s=0}let l=o-I;i===1?t.shift():t.splice(0,i),this.#n[n]=s,this.#o-=l,e[0]=n,e[1]=l>>8,e[2]=" +
  "l&255,e.fill(0,o)}};function _e(r,e,t){let n=e+X;return r.set(t,n),r[e]=t.length>>8,r[e+1]=t.length&255,n+t.le" +
  "ngth}function rr(r,e,t){r[e]=t>>>24,r[e+1]=t>>>16,r[e+2]=t>>>8,r[e+3]=t}var nr=64*1024,Ze=.5,or=2,ee=class{#e;" +
  "#t;#r=[];#n=0;#o=0;#i=new Uint8Array(0);#s=\"off\";#d=0;#c;#l=0;#a=!0;#u=!1;#f=!1;#h=!1;#p=new Set;#m={cells:0,c" +
  "overCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#e=e,this.#t=new Y(e.cellBytes)}get pendingBytes(" +
  "){return this.#t.pendingBytes+this.#n+this.#o}get counts(){return{...this.#m}}push(e,t){this.#h||(this.#r.leng" +
  "th===0?this.#t.push(e,t):(he(t.length),this.#r.push({lane:e,envelope:t}),this.#n+=t.length+w),this.#y())}setCe" +
  "llBytes(e){this.#r.push({cellBytes:ue(e)}),this.#U()}configure(e,t){if(!this.#h){if(e!==\"off\"&&!(t>0))throw ne" +
  "w RangeError(`Cover needs an interval above 0, not ${t}`);this.#c?.(),this.#c=void 0,this.#s=e,this.#d=t,this." +
  "#u=!1,this.#l=this.#e.nowMs(),e!==\"off\"&&this.#A(),this.#y()}}setCovering(e){this.#a=e}flush(e){return this.#h" +
  "?Promise.resolve(this.pendingBytes===0):!this.#f&&this.pendingBytes===0?Promise.resolve(!0):new Promise(t=>{le" +
  "t n=i=>{this.#p.delete(n),o(),t(i)},o=this.#e.after(e,()=>n(!1));this.#p.add(n)})}stop(){this.#h=!0,this.#c?.(" +
  "),this.#c=void 0,this.#i=new Uint8Array(0);for(let e of this.#p)e(!1)}#y(){this.#f||this.#h||!this.#b()||(this" +
  ".#f=!0,this.#C())}#b(){return this.#u||this.#s!==\"constant\"&&this.#t.pendingBytes>0}async#C(){await void 0;try" +
  "{for(;!this.#h&&this.#b();){let e=this.#s===\"constant\"?this.#w():this.#P();if(await this.#e.write(e,this.#t.ce" +
  "llBytes),this.#o=0,this.#h)break;this.#U(),this.#e.onWritten?.()}}catch(e){this.#o=0;let t=this.#h;this.stop()" +
  ",t||this.#e.onFailed?.(e)}this.#f=!1,this.#x()}#x(){if(!(this.#h||this.pendingBytes>0)){this.#i.length>or*this" +
  ".#t.cellBytes&&(this.#i=new Uint8Array(0));for(let e of this.#p)e(!0)}}#w(){this.#u=!1;let e=this.#v(1);return" +
  " this.#B(e)?e:this.#S(e)}#P(){let{cellBytes:e,pendingBytes:t}=this.#t;if(t===0)return this.#u=!1,this.#S(this." +
  "#v(1));let n=Math.ceil(t/(e-I))+1,o=this.#v(Math.min(n,Math.max(1,Math.floor(nr/e)))),i=0;for(;i<o.length&&thi" +
  "s.#B(o.subarray(i,i+e));)i+=e;return o.subarray(0,i)}#v(e){let t=e*this.#t.cellBytes;return this.#i.length<t&&" +
  "(this.#i=new Uint8Array(t)),this.#i.subarray(0,t)}#B(e){let t=this.#t.pendingBytes;if(this.#t.next(e)===void 0" +
  ")return!1;let n=t-this.#t.pendingBytes;return this.#o+=n,this.#m.cells++,this.#m.paddingBytes+=e.length-I-n,th" +
  "is.#k(e,I+n),!0}#S(e){return this.#m.cells++,this.#m.coverCells++,this.#m.coverBytes+=e.length,this.#k(e.fill(" +
  "0),I),e}#k(e,t){let{rider:n}=this.#e;if(n!==void 0)for(let o=t;e.length-o>X;){let i=n(e.length-o-X);if(i===voi" +
  "d 0)return;o=_e(e,o,i)}}#A(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#s===\"poisson\"?this.#M():this.#T" +
  "(e),()=>{this.#u=this.#a||this.#s===\"constant\"&&this.#t.pendingBytes>0,this.#A(),this.#y()})}#M(){return-Math." +
  "log(1-this.#e.random())*this.#d}#T(e){this.#l=ir(this.#l,this.#d,e);let t=this.#e.random()*Ze*this.#d;return M" +
  "ath.max((1-Ze)*this.#d,this.#l-t-e)}#U(){for(;this.#t.pendingBytes===0&&this.#r.length>0;){let e=this.#r.findI" +
  "ndex((t,n)=>n>0&&\"cellBytes\"in t);for(let t of this.#r.splice(0,e<0?this.#r.length:e))\"cellBytes\"in t?this.#t." +
  "cellBytes=t.cellBytes:(this.#n-=t.envelope.length+w,this.#t.push(t.lane,t.envelope))}}};function ir(r,e,t){if(" +
  "t<r-e)return t+e;let n=Math.max(0,Math.floor((t-r)/e));return r+(n+1)*e}var S=class extends Error{name=\"Static" +
  "Error\";code;retryable;retryAfterMs;epoch;channel;unreachable;members;constructor(e,t,n={}){super(Z(t),n.cause=" +
  "==void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retryable??N[e].retryable,this.retryAfterMs=n.re" +
  "tryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachable=n.unreachable,this.members=n.members}},t" +
  "e=class extends S{name=\"TransportError\"},Pe=class extends te{name=\"UnavailableError\"},Me=class extends te{name" +
  "=\"InternalError\"},Te=class extends S{name=\"AuthError\"},fe=class extends S{name=\"ChannelError\"},Ie=class extend" +
  "s fe{name=\"RemovedError\";by;atMs;constructor(e,t,n={}){super(e,t,n),this.by=n.by,this.atMs=n.atMs}},Fe=class e" +
  "xtends S{name=\"QuotaExceededError\"},Re=class extends S{name=\"MlsError\"},Oe=class extends S{name=\"InvalidArgume" +
  "ntError\"},He=class extends S{name=\"StoreError\"},Le=class extends S{name=\"RemoteError\";remoteCode;constructor(e" +
  ",{remoteCode:t=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=t}};function B(r){return(e,t,n)=>n" +
  "ew r(e,t,n)}var sr={TransportError:B(te),AuthError:B(Te),ChannelError:B(fe),QuotaExceededError:B(Fe),MlsError:" +
  "B(Re),InvalidArgumentError:B(Oe),StoreError:B(He),UnavailableError:B(Pe),RemovedError:B(Ie),RemoteError:(r,e,t" +
  ")=>new Le(e,t),InternalError:B(Me)};function Ye(r,e,t){return sr[N[r].errorClass](r,e,t)}function Xe(r,e){retu" +
  "rn e!==void 0&&z(e)?e:r===429?\"rate_limited\":r===503?\"overloaded\":void 0}function L(r){let e=[];for(let t=r;t!" +
  "==void 0&&e.length<3;t=t instanceof Error?t.cause:void 0){let n=t instanceof Error?t.message:String(t);n!==\"\"&" +
  "&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var ar=1500,dr=64*1024;function et(r){let e=r.readab" +
  "le.getReader({mode:\"byob\"}),t=r.writable.getWriter();t.closed.catch(()=>{});let n=new ArrayBuffer(dr),o=()=>{}" +
  ",i=new Promise(a=>o=a),s,l=a=>{s?.(),o(a)};r.closed.then(({closeCode:a=0})=>l(me(a)),a=>l({message:L(a)}));let" +
  " u=()=>{t.close().catch(()=>{}),s??=r.after(ar,()=>{r.close(0),o({message:\"the relay ended the stream\"})})};re" +
  "turn{read:async()=>{try{let{value:a}=await e.read(new Uint8Array(n));if(a!==void 0&&a.length>0)return n=a.buff" +
  "er,a}catch{}u()},write:async a=>{try{await t.write(a)}catch(h){throw u(),h}},close:a=>{o({message:\"it was clos" +
  "ed by this side\"}),a===0?u():r.close(a)},closed:i}}function me(r){let e=Se(r);return e===void 0?{message:\"the " +
  "relay closed the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var pe=class{#e=new" +
  " Map;#t;#r=1/0;#n=0;after(e,t){let n=Math.ceil((performance.now()+e)/250),o={run:t},i=this.#e.get(n);return i=" +
  "==void 0?this.#e.set(n,new Set([o])):i.add(o),this.#n++,n<this.#r?this.#s(n):this.#n===1&&this.#i(!0),()=>{thi" +
  "s.#o(n,o)}}#o(e,t){let n=this.#e.get(e);return n===void 0||!n.delete(t)?!1:(n.size===0&&this.#e.delete(e),this" +
  ".#n--,this.#n===0&&this.#i(!1),!0)}#i(e){typeof this.#t==\"object\"&&(e?this.#t.ref():this.#t.unref())}#s(e){cle" +
  "arTimeout(this.#t),this.#r=e;let t=Math.max(0,e*250-performance.now());this.#t=setTimeout(()=>this.#d(),Math.m" +
  "in(t,2147483647))}#d(){this.#t=void 0,this.#r=1/0;let e=performance.now(),t=1/0;for(let[n,o]of this.#e)if(n*25" +
  "0>e)t=Math.min(t,n);else for(let i of o)queueMicrotask(()=>this.#o(n,i)&&i.run());t<1/0&&this.#s(t)}};function" +
  " tt(){return Date.now()}var cr=5e3,lr=new pe;function q(r,e){if(r>=cr)return lr.after(r,e);let t=setTimeout(e," +
  "r);return()=>clearTimeout(t)}function rt(r){return crypto.getRandomValues(new Uint8Array(r))}var ur=\"static-re" +
  "lay/1\",hr={maxIdleTimeout:36e3},fr=\"low-latency\",ot={transport:\"quic\",carrier:\"udp\",unusable:()=>nt()===void 0" +
  "?\"Deno offers QUIC only with --unstable-net\":void 0,connect:async({host:r,port:e,trust:t},n)=>{let o=nt();if(o" +
  "===void 0)throw new Error(\"Deno offers QUIC only with --unstable-net\");n.throwIfAborted();let i=t.certificateH" +
  "ashes.map(a=>({algorithm:\"sha-256\",value:a})),s=pr(o),l=a=>s.close({closeCode:a,reason:\"\"}),u=()=>l(0);n.addEv" +
  "entListener(\"abort\",u);try{let a=await o.connectQuic({hostname:r,port:e,alpnProtocols:[ur],caCerts:t.caCerts,." +
  "..i.length>0&&{serverCertificateHashes:i},endpoint:s,...hr,congestionControl:fr}),{readable:h,writable:U}=awai" +
  "t a.createBidirectionalStream().catch(M=>mr(a,M)),_=a.closed.finally(()=>l(0));return et({readable:h,writable:" +
  "U,closed:_,close:l,after:q})}catch(a){throw l(0),n.aborted?n.reason:a}finally{n.removeEventListener(\"abort\",u)" +
  "}}};async function mr({closed:r},e){let{code:t,message:n}=await r.then(({closeCode:o})=>me(o),()=>me(0));throw" +
  " t===void 0?e:Ye(t,n)}function pr({QuicEndpoint:r}){try{return new r({hostname:\"::\"})}catch{return new r({host" +
  "name:\"0.0.0.0\"})}}function nt(){let{Deno:r}=globalThis;return r?.connectQuic===void 0?void 0:r}var p={noError:" +
  "0,protocolError:1,internalError:2,flowControlError:3,settingsTimeout:4,streamClosed:5,frameSizeError:6,refused" +
  "Stream:7,cancel:8,compressionError:9,connectError:10,enhanceYourCalm:11,inadequateSecurity:12,http11Required:1" +
  "3},yr=new Map(Object.entries(p).map(([r,e])=>[e,r]));function We(r){return yr.get(r)??`code ${r}`}var m=class " +
  "extends Error{name=\"ConnectionError\";code;constructor(e,t){super(t),this.code=e}};var x={regular:0,malformed:1" +
  ",method:2,scheme:3,authority:4,path:5,host:6,contentLength:7,cookie:8},$e=new Set([\"connection\",\"keep-alive\",\"" +
  "proxy-connection\",\"transfer-encoding\",\"upgrade\"]),gr=new Map([[\":method\",x.method],[\":scheme\",x.scheme],[\":aut" +
  "hority\",x.authority],[\":path\",x.path],[\"host\",x.host],[\"content-length\",x.contentLength],[\"cookie\",x.cookie]])" +
  ",it=/^[!#$%&'*+\\-.^_`|~0-9a-z]+$/,st=/^(?:[!-~\\x80-\\xff](?:[\\t -~\\x80-\\xff]*[!-~\\x80-\\xff])?)?$/;function W(r," +
  "e){return{name:r,value:e,kind:br(r,e),size:r.length+e.length+32}}function at(r,e){return it.test(r)&&st.test(e" +
  ")}function br(r,e){let t=gr.get(r);return st.test(e)?t!==void 0?t:r===\"te\"?e.toLowerCase()===\"trailers\"?x.regu" +
  "lar:x.malformed:$e.has(r)?x.malformed:it.test(r)?x.regular:x.malformed:x.malformed}var f={data:0,headers:1,pri" +
  "ority:2,rstStream:3,settings:4,pushPromise:5,ping:6,goaway:7,windowUpdate:8,continuation:9},g={ack:1,endStream" +
  ":1,endHeaders:4,padded:8,priority:32},A={headerTableSize:1,enablePush:2,maxConcurrentStreams:3,initialWindowSi" +
  "ze:4,maxFrameSize:5,maxHeaderListSize:6,noRfc7540Priorities:9},De=new TextEncoder().encode(`PRI * HTTP/2.0\\r\n\\" +
  "r\nSM\\r\n\\r\n`),E=9,F=16384,dt=16777215,j=65535,re=2**31-1,xr=2**31-1;function Q(r,e){return((r[e]??0)<<24|(r[e+1" +
  "]??0)<<16|(r[e+2]??0)<<8|(r[e+3]??0))>>>0}function ne(r,e,t){r[e]=t>>>24,r[e+1]=t>>>16,r[e+2]=t>>>8,r[e+3]=t}f" +
  "unction ye(r,e,{length:t,type:n,flags:o,streamId:i}){return r[e]=t>>16,r[e+1]=t>>8,r[e+2]=t,r[e+3]=n,r[e+4]=o," +
  "ne(r,e+5,i),e+E}function V(r,e){return Q(r,e)&2147483647}var ct=new Uint8Array(0),oe=class{#e;#t;#r={type:0,fl" +
  "ags:0,streamId:0,bytes:ct,start:0,end:0};#n=new Uint8Array(E);#o=0;#i;#s=0;#d=0;#c=!1;constructor(e,t=ct){this" +
  ".#e=e,this.#t=t}get prefaceSeen(){return this.#d===this.#t.length}stop(){this.#c=!0,this.#i=void 0}receive(e){" +
  "let t=this.prefaceSeen?0:this.#l(e);for(this.#o>0&&(t=this.#a(e,t));!this.#c&&e.length-t>=E;){let n=lt(e,t),o=" +
  "t+E+n;if(o>e.length)break;this.#u(e,t,e,t+E,o),t=o}!this.#c&&t<e.length&&this.#a(e,t)}#l(e){let t=0;for(;t<e.l" +
  "ength&&!this.prefaceSeen;)if(e[t++]!==this.#t[this.#d++])throw new m(p.protocolError,\"The client did not send " +
  "the HTTP/2 connection preface\");return t}#a(e,t){let n=t;for(;this.#o<E;){if(n===e.length)return n;this.#n[thi" +
  "s.#o++]=e[n++]??0}let o=this.#i??=new Uint8Array(lt(this.#n,0)),i=Math.min(o.length-this.#s,e.length-n);return" +
  " o.set(e.subarray(n,n+i),this.#s),this.#s+=i,this.#s===o.length&&(this.#i=void 0,this.#s=0,this.#o=0,this.#u(t" +
  "his.#n,0,o,0,o.length)),n+i}#u(e,t,n,o,i){let s=this.#r;s.type=e[t+3]??0,s.flags=e[t+4]??0,s.streamId=V(e,t+5)" +
  ",s.bytes=n,s.start=o,s.end=i,this.#e(s)}};function lt(r,e){let t=(r[e]??0)<<16|(r[e+1]??0)<<8|(r[e+2]??0);if(t" +
  ">F)throw new m(p.frameSizeError,`A frame of ${t} bytes is above the limit of ${F}`);return t}function ge(r,e){" +
  "if((r.flags&g.padded)===0){if(r.end-r.start<e)throw ut(\"HEADERS\");return{start:r.start+e,end:r.end}}let t=r.en" +
  "d-r.start;if(t<1+e)throw ut(\"A padded frame\");let n=r.bytes[r.start]??0;if(n>t-1-e)throw new m(p.protocolError" +
  ",\"Padding is longer than its frame\");return{start:r.start+1+e,end:r.end-n}}function ut(r){return new m(p.frame" +
  "SizeError,`${r} has a length that its type does not allow`)}var ie=class{streamId;endStream;#e;#t=[];#r=0;#n=0" +
  ";constructor(e,t){this.streamId=e.id,this.endStream=e.endStream,this.#e=t}add(e,t,n){if(ht(this.#r+=n-t,this.#" +
  "e),++this.#n>this.#e.headerBlockFrames)throw new m(p.enhanceYourCalm,`A header block of more than ${this.#e.he" +
  "aderBlockFrames} frames is above the limit`);this.#t.push(e.slice(t,n))}join(){let e=new Uint8Array(this.#r),t" +
  "=0;for(let n of this.#t)e.set(n,t),t+=n.length;return e}};function ht(r,e){if(r>e.headerBlockBytes)throw new m" +
  "(p.enhanceYourCalm,`A header block of more than ${e.headerBlockBytes} bytes is above the limit`)}var J=class{#" +
  "e;#t;#r;#n=0;#o=0;#i=0;constructor(e,t){this.#r=e,this.#e=new Array(Math.max(1,Math.floor(e/32))),this.#t=t}ge" +
  "t bytes(){return this.#n}get count(){return this.#o}get insertions(){return this.#i}get(e){return e<this.#o?th" +
  "is.#e[(this.#i-1-e)%this.#e.length]:void 0}resize(e){this.#r=e,this.#s(e)}insert(e){return this.#s(this.#r-e.s" +
  "ize),e.size>this.#r?!1:(this.#e[this.#i%this.#e.length]=e,this.#i++,this.#o++,this.#n+=e.size,!0)}#s(e){for(;t" +
  "his.#o>0&&this.#n>e;){let t=this.#i-this.#o,n=t%this.#e.length,o=this.#e[n];this.#e[n]=void 0,this.#o--,o!==vo" +
  "id 0&&(this.#n-=o.size,this.#t?.(o,t))}}};var be=[13,23,28,28,28,28,28,28,28,24,30,28,28,30,28,28,28,28,28,28," +
  "28,28,30,28,28,28,28,28,28,28,28,28,6,10,10,12,13,6,8,11,10,10,8,11,8,6,6,6,5,5,5,6,6,6,6,6,6,6,7,8,15,6,12,10" +
  ",13,6,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,8,7,8,13,19,13,14,6,15,5,6,5,6,5,6,6,6,5,7,7,6,6,6,5,6,7,6,5" +
  ",5,6,7,7,7,7,7,15,11,14,13,28,20,22,20,20,22,22,22,23,22,23,23,23,23,23,24,23,24,24,22,23,24,23,23,23,23,21,22" +
  ",23,22,23,23,24,22,21,20,22,22,23,23,21,23,22,22,24,21,22,23,23,21,21,22,21,23,22,23,23,20,22,22,22,23,22,22,2" +
  "3,26,26,20,19,22,23,22,25,26,26,26,27,27,26,24,25,19,21,26,27,27,26,27,24,21,21,26,26,28,27,27,27,20,24,20,21," +
  "22,21,21,23,22,22,25,25,24,24,26,23,26,27,26,26,27,27,27,27,27,28,27,27,27,27,27,26,30],Ke=4294967295,mt=256,p" +
  "t=wr(be),ft=vr();function yt(r){let e=0;for(let t=0;t<r.length;t++)e+=be[r.charCodeAt(t)]??0;return e+7>>3}fun" +
  "ction gt(r,e,t){let[n,o,i]=[0,0,t];for(let s=0;s<r.length;s++){let l=r.charCodeAt(s),u=be[l]??0,a=pt[l]??0;for" +
  "(;u>0;){let h=Math.min(u,8-o);u-=h,n=n<<h|a>>>u&(1<<h)-1,o+=h,o===8&&(e[i++]=n,n=0,o=0)}}return o>0&&(e[i++]=n" +
  "<<8-o|255>>o),i}function bt(r,e,t){let[n,o]=[0,0];for(let i=e.start;i<e.end;i++){let s=r[i]??0;for(let l=4;l>=" +
  "0;l-=4){let u=ft.steps[n<<4|s>>l&15]??Ke;if(u===Ke)return;if((u&mt)!==0){if(o===t.length)return;t[o++]=u&255}n" +
  "=u>>9}}return ft.accepting[n]===1?o:void 0}function wr(r){let e=new Uint32Array(r.length),t=0;for(let n=1;n<=3" +
  "0;n++)r.forEach((o,i)=>{o===n&&(e[i]=t++)}),t=t*2;return e}function vr(){let r=[[]];be.forEach((o,i)=>{let s=0" +
  ";for(let l=o-1;l>=0;l--){let u=(pt[i]??0)>>>l&1,a=r[s]??[];l===0?a[u]=-1-i:s=a[u]??=r.push([])-1}});let e=new " +
  "Uint32Array(r.length*16);for(let o=0;o<r.length;o++)for(let i=0;i<16;i++)e[o<<4|i]=Ar(r,o,i);let t=new Uint8Ar" +
  "ray(r.length),n=0;for(let o=0;o<8&&n!==void 0;o++)t[n]=1,n=r[n]?.[1];return{steps:e,accepting:t}}function Ar(r" +
  ",e,t){let[n,o]=[e,0];for(let i=3;i>=0;i--){let s=r[n]?.[t>>i&1];if(s===void 0||s===-257)return Ke;s<0&&(o=mt|-" +
  "1-s),n=Math.max(s,0)}return(n<<9|o)>>>0}var Er=`:authority\n:method GET\n:method POST\n:path /\n:path /index.html\n" +
  ":scheme http\n:scheme https\n:status 200\n:status 204\n:status 206\n:status 304\n:status 400\n:status 404\n:status 500" +
  "\naccept-charset\naccept-encoding gzip, deflate\naccept-language\naccept-ranges\naccept\naccess-control-allow-origin" +
  "\nage\nallow\nauthorization\ncache-control\ncontent-disposition\ncontent-encoding\ncontent-language\ncontent-length\nco" +
  "ntent-location\ncontent-range\ncontent-type\ncookie\ndate\netag\nexpect\nexpires\nfrom\nhost\nif-match\nif-modified-since" +
  "\nif-none-match\nif-range\nif-unmodified-since\nlast-modified\nlink\nlocation\nmax-forwards\nproxy-authenticate\nproxy-" +
  "authorization\nrange\nreferer\nrefresh\nretry-after\nserver\nset-cookie\nstrict-transport-security\ntransfer-encoding\n" +
  "user-agent\nvary\nvia\nwww-authenticate`,G=Er.split(`\n`).map(r=>{let e=r.indexOf(\" \");return e<0?W(r,\"\"):W(r.slic" +
  "e(0,e),r.slice(e+1))}),se=G.length,xt=new Map(G.map((r,e)=>[r.name,e+1]).reverse());var $=4096,wt=2**28,ae=cla" +
  "ss{#e;#t=new J($);#r=new Uint8Array(256);#n=this.#r;#o=0;#i=0;constructor(e){this.#e=e}decode(e,t,n){this.#n=e" +
  ",this.#o=t,this.#i=n;let o=[],i=0,s=!0;for(;this.#o<n;){let l=e[this.#o]??0;if((l&224)===32){if(!s)throw R(\"a " +
  "table size update follows a field\");this.#c();continue}s=!1;let u=this.#s(l);i+=u.size,i<=this.#e&&o.push(u)}r" +
  "eturn this.#n=this.#r,{fields:o,oversized:i>this.#e}}#s(e){if(e>=128)return this.#d(this.#l(7));let t=e>=64,n=" +
  "this.#l(t?6:4),o=n===0?this.#a():this.#d(n).name,i=W(o,this.#a());return t&&this.#t.insert(i),i}#d(e){let t=e<" +
  "=se?G[e-1]:this.#t.get(e-se-1);if(t===void 0)throw R(`index ${e} names no entry`);return t}#c(){let e=this.#l(" +
  "5);if(e>$)throw R(`a table of ${e} bytes is above the limit of ${$}`);this.#t.resize(e)}#l(e){let t=(1<<e)-1,n" +
  "=(this.#n[this.#o++]??0)&t;if(n<t)return n;for(let o=1;;o*=128){if(this.#o>=this.#i)throw R(\"an integer is cut" +
  " off\");let i=this.#n[this.#o++]??0;if(n+=(i&127)*o,n>wt||o>wt)throw R(\"an integer is too large\");if(i<128)retu" +
  "rn n}}#a(){if(this.#o>=this.#i)throw R(\"a string is cut off\");let e=(this.#n[this.#o]??0)>=128,t=this.#l(7),n=" +
  "this.#o,o=n+t;if(o>this.#i)throw R(\"a string is cut off\");if(this.#o=o,!e)return vt(this.#n.subarray(n,o));let" +
  " i=(t*8/5|0)+1;this.#r.length<i&&(this.#r=new Uint8Array(i));let s=bt(this.#n,{start:n,end:o},this.#r);if(s===" +
  "void 0)throw R(\"a string has an invalid Huffman code\");return vt(this.#r.subarray(0,s))}};function vt(r){if(r." +
  "length<=4096)return String.fromCharCode(...r);let e=\"\";for(let t=0;t<r.length;t+=4096)e+=String.fromCharCode(." +
  "..r.subarray(t,t+4096));return e}function R(r){return new m(p.compressionError,`Cannot decode a header block: " +
  "${r}`)}var Cr=new Set([\"authorization\",\"proxy-authorization\",\"cookie\",\"set-cookie\"]),Br=new Set([\"content-leng" +
  "th\",\"date\",\"etag\",\"grpc-message\",\"grpc-status-details-bin\",\"location\"]),Sr=128,de=class{#e=new Map;#t=new J($," +
  "(e,t)=>{let n=this.#e.get(e.name);n?.get(e.value)===t&&(n.delete(e.value),n.size===0&&this.#e.delete(e.name))}" +
  ");#r=new Uint8Array(256);#n=0;#o=$;#i;setTableBytes(e){let t=Math.min(e,$);t===this.#o&&this.#i===void 0||(thi" +
  "s.#i=Math.min(this.#i??t,t),this.#o=t,this.#t.resize(t))}encode(e,t=[]){this.#n=0,this.#l();try{for(let[n,o]of" +
  " t)this.#s(n,o);for(let[n,o]of e){if(n.startsWith(\":\"))throw At(n);this.#s(n,o)}}catch(n){throw this.#t.resize" +
  "(0),this.#t.resize(this.#o),this.#i=0,n}return this.#r.subarray(0,this.#n)}#s(e,t){let n=this.#e.get(e)?.get(t" +
  ");if(n!==void 0){this.#a(128,7,se+this.#t.insertions-n);return}let o=kr.get(e)?.get(t);o!==void 0?this.#a(128," +
  "7,o):e!==e.toLowerCase()?this.#s(e.toLowerCase(),t):this.#d(e,t)}#d(e,t){if($e.has(e))return;if(!at(e.startsWi" +
  "th(\":\")?e.slice(1):e,t))throw At(e);let n=Cr.has(e),o=!n&&!Br.has(e)&&t.length<=Sr,i=xt.get(e)??0;o?this.#a(64" +
  ",6,i):this.#a(n?16:0,4,i),i===0&&this.#u(e),this.#u(t),o&&this.#c(e,t)}#c(e,t){if(!this.#t.insert(W(e,t)))retu" +
  "rn;let n=this.#e.get(e)??new Map;n.set(t,this.#t.insertions-1),this.#e.set(e,n)}#l(){this.#i!==void 0&&(this.#" +
  "i<this.#o&&this.#a(32,5,this.#i),this.#a(32,5,this.#o),this.#i=void 0)}#a(e,t,n){this.#f(8);let o=(1<<t)-1;if(" +
  "n<o){this.#r[this.#n++]=e|n;return}this.#r[this.#n++]=e|o;let i=n-o;for(;i>=128;i>>>=7)this.#r[this.#n++]=i&12" +
  "7|128;this.#r[this.#n++]=i}#u(e){let t=yt(e);if(t<e.length){this.#a(128,7,t),this.#f(t),this.#n=gt(e,this.#r,t" +
  "his.#n);return}this.#a(0,7,e.length),this.#f(e.length);for(let n=0;n<e.length;n++)this.#r[this.#n++]=e.charCod" +
  "eAt(n)}#f(e){if(this.#r.length-this.#n>=e)return;let t=new Uint8Array(Math.max(this.#r.length*2,this.#n+e));t." +
  "set(this.#r.subarray(0,this.#n)),this.#r=t}},kr=(()=>{let r=new Map;return G.forEach(({name:e,value:t},n)=>{le" +
  "t o=r.get(e)??new Map;r.set(e,o.set(t,n+1))}),r})();function At(r){return new TypeError(`Cannot send header \"$" +
  "{r.slice(0,64)}\": its name or value has characters that HTTP/2 forbids`)}var O=6;function Ne(r,e){for(let t=r." +
  "start;t<r.end;t+=O){let n=(r.bytes[t]??0)<<8|(r.bytes[t+1]??0),o=Q(r.bytes,t+2);Ur(n,o),e(n,o)}}function Ur(r," +
  "e){switch(r){case A.enablePush:case A.noRfc7540Priorities:if(e>1)throw new m(p.protocolError,`Setting ${r} mus" +
  "t be 0 or 1, not ${e}`);return;case A.initialWindowSize:if(e>re)throw new m(p.flowControlError,`An initial win" +
  "dow of ${e} bytes is above 2^31-1`);return;case A.maxFrameSize:if(e<F||e>dt)throw new m(p.protocolError,`A max" +
  "imum frame size of ${e} is not allowed`);return}}function xe({host:r,port:e}){return`${r.includes(\":\")?`[${r}]" +
  "`:r}:${e}`}var D=5,_r=64*1024,Et=10,ze=new TextDecoder;function Ct(r,e){let t=Pr(Et,e),n=D+t.length+e,o=new Ui" +
  "nt8Array(r.length/e*n);for(let i=0;i<r.length/e;i++){let s=i*n;Mr(o,s+1,t.length+e),o.set(t,s+D),o.set(r.subar" +
  "ray(i*e,(i+1)*e),s+D+t.length)}return o}function Bt(r){let{value:e,end:t}=Ut(r,0,Et);if(t!==r.length)throw new" +
  " v(\"protocol_error\",\"A cell's message holds more than a cell\");return e}function St(r){let e={code:\"\",message:" +
  "\"\"};for(let{field:t,value:n}of qe(r))t===4&&typeof n==\"number\"&&(e={...e,retryAfterMs:n}),typeof n!=\"number\"&&" +
  "(t===1&&(e={...e,code:ze.decode(n)}),t===2&&(e={...e,message:ze.decode(n)}));return e}function*kt(r){for(let{f" +
  "ield:e,value:t}of qe(r)){if(e!==3||typeof t==\"number\")continue;let[n,o]=[\"\",new Uint8Array];for(let i of qe(t)" +
  ")typeof i.value!=\"number\"&&(i.field===1&&(n=ze.decode(i.value).replace(/^.*\\//,\"\")),i.field===2&&(o=i.value.sl" +
  "ice()));yield{type:n,value:o}}}var we=class{#e=new Uint8Array(D);#t=0;#r=new Uint8Array(0);#n=0;read(e,t){let " +
  "n=0;for(;n<e.length;){if(this.#t<D){let i=e.subarray(n,n+D-this.#t);if(this.#e.set(i,this.#t),this.#t+=i.lengt" +
  "h,n+=i.length,this.#t<D)return;this.#o()}let o=e.subarray(n,n+this.#r.length-this.#n);n+=o.length,o.length===t" +
  "his.#r.length?this.#i(o,t):(this.#r.set(o,this.#n),this.#n+=o.length,this.#n===this.#r.length&&this.#i(this.#r" +
  ",t))}}#o(){let e=new DataView(this.#e.buffer).getUint32(1);if(e===0||e>_r)throw new v(\"protocol_error\",`A mess" +
  "age of ${e} bytes where cells are expected`);this.#r.length!==e&&(this.#r=new Uint8Array(e)),this.#n=0}#i(e,t)" +
  "{this.#t=0,t(this.#e[0]??0,e)}};function ce(r){let e=new Uint8Array(r.reduce((n,{length:o})=>n+o,0)),t=0;for(l" +
  "et n of r)e.set(n,t),t+=n.length;return e}function Pr(r,e){let t=[r];for(let n=e;n>0||t.length===1;n>>>=7)t.pu" +
  "sh(n>127?n&127|128:n);return Uint8Array.from(t)}function Ut(r,e,t){if(r[e]!==t)throw new v(\"protocol_error\",\"A" +
  " message without the field that it must have\");let{value:n,end:o}=_t(r,e+1);if(n>r.length-o)throw Pt();return{" +
  "value:r.subarray(o,o+n),end:o+n}}function*qe(r){for(let e=0;e<r.length;){let t=r[e]??0,{value:n,end:o}=(t&7)==" +
  "=0?_t(r,e+1):Ut(r,e,t&-8|2);yield{field:t>>3,value:n},e=o}}function _t(r,e){let t=0;for(let[n,o]=[1,e];o<r.len" +
  "gth&&n<2**63;n*=128){let i=r[o++]??0;if(t+=(i&127)*n,i<128)return{value:t,end:o}}throw Pt()}function Pt(){retu" +
  "rn new v(\"protocol_error\",\"A field goes beyond the end of its message\")}function Mr(r,e,t){new DataView(r.buff" +
  "er,r.byteOffset).setUint32(e,t)}var Tr=new Uint8Array(0);function P(r,e,t,n=Tr){let o=new Uint8Array(E+n.lengt" +
  "h);return o.set(n,ye(o,0,{length:n.length,type:r,flags:e,streamId:t})),o}function Mt(r,e,t){let n=new Uint8Arr" +
  "ay(e.length+Math.ceil(e.length/t)*E);for(let[o,i]=[0,0];o<e.length;){let s=e.subarray(o,o+t),l=ye(n,i,{length:" +
  "s.length,type:f.data,flags:0,streamId:r});n.set(s,l),[o,i]=[o+s.length,l+s.length]}return n}function Tt(r){let" +
  " e=new Uint8Array(r.length*O);for(let[t,[n,o]]of r.entries())e[t*O+1]=n,ne(e,t*O+2,o);return P(f.settings,0,0," +
  "e)}function le(r){let e=new Uint8Array(4);return ne(e,0,r),e}var Ir=\"static.relay.v1.ErrorDetail\";function It(" +
  "r,e){try{for(let{type:t,value:n}of kt(Rr(r))){let o=t===Ir?Fr(()=>n):void 0;if(o!==void 0)return o}}catch{}ret" +
  "urn{message:e}}function Ft(r,e,{message:t,...n}){let o=Xe(r);if(o===void 0)return{message:t};if(n.code!==void " +
  "0)return{message:t,...n};let i=typeof e==\"string\"?Number(e)*1e3:NaN;return{code:o,message:t,...i>=0&&{retryAft" +
  "erMs:i}}}function Fr(r){try{let{code:e,message:t,retryAfterMs:n}=St(r());return z(e)?{code:e,message:t,retryAf" +
  "terMs:n}:void 0}catch{return}}function Rr(r){return Uint8Array.from(atob(r),e=>e.charCodeAt(0))}var ve=1024*10" +
  "24,Rt={headerBlockBytes:64*1024,headerBlockFrames:16},Or=1e3,Hr=1500,k=1,je=\"it was closed by this side\",Lr=ne" +
  "w Map([[f.rstStream,4],[f.ping,8],[f.windowUpdate,4]]),Ae=class{#e;#t;#r=new oe(e=>this.#v(e));#n=new ae(Rt.he" +
  "aderBlockBytes);#o=new we;#i=j;#s=j;#d=j;#c=F;#l=0;#a;#u=!1;#f=[];#h=0;#p=!1;#m=!1;#y;#b=()=>{};#C=[];#x=Promi" +
  "se.resolve();#w;closed;constructor(e,t,n){this.#e=e,this.#t=n,this.closed=new Promise(i=>this.#b=i);let o=new " +
  "de().encode([[\"content-type\",\"application/grpc\"],[\"te\",\"trailers\"]],[[\":method\",\"POST\"],[\":scheme\",\"https\"],[\"" +
  ":authority\",xe(t)],[\":path\",\"/static.relay.v1.Relay/Session\"]]);this.#_(ce([De,Tt([[A.enablePush,0],[A.initial" +
  "WindowSize,ve]]),P(f.windowUpdate,0,0,le(ve-j)),P(f.headers,g.endHeaders,k,o)]))}receive(e){if(!this.#p)try{th" +
  "is.#r.receive(e)}catch(t){this.#L(t)}}lost(e=\"the connection was cut off\"){this.#g({message:e}),this.#F()}asyn" +
  "c read(){for(;this.#f.length===0;){if(this.#p){this.#I();return}await this.#R()}let e=this.#f;return this.#f=[" +
  "],this.#h>=ve/2&&this.#H(),e.length===1?e[0]:ce(e)}write(e,t){if(this.#m)return Promise.reject(new Error(this." +
  "#y?.message??je));let n=this.#P(Ct(e,t));return this.#x=n.catch(()=>{}),n}async#P(e){for(let t=0;t<e.length;){" +
  "if(this.#y!==void 0)throw new Error(this.#y.message);let n=Math.min(this.#i,this.#s,e.length-t);if(n<=0){await" +
  " this.#R();continue}this.#i-=n,this.#s-=n;let o=Mt(k,e.subarray(t,t+=n),this.#c);await this.#e.write(o).catch(" +
  "i=>{throw this.lost(L(i)),i})}}close(e){this.#b({message:je}),e===0?this.#I():this.#F()}#v(e){if(this.#a!==voi" +
  "d 0&&e.type!==f.continuation)throw K(\"a header block must be continued before any other frame\");let[t,n]=[e.en" +
  "d-e.start,Lr.get(e.type)];if(n!==void 0&&n!==t)throw Ht();switch(e.type){case f.data:return this.#B(e);case f." +
  "headers:return this.#S(e);case f.continuation:return this.#k(e);case f.rstStream:if(e.streamId!==k)throw K(\"a " +
  "stream that was not opened is reset\");return this.#g({message:`the relay reset the stream (${Ot(e,0)})`});case" +
  " f.settings:return this.#U(e);case f.pushPromise:throw K(\"pushes were declined\");case f.ping:return(e.flags&g." +
  "ack)!==0?void 0:this.#_(P(f.ping,g.ack,0,e.bytes.subarray(e.start,e.end)));case f.goaway:return V(e.bytes,e.st" +
  "art)>=k?void 0:this.#g({message:`the relay does not serve this stream (${Ot(e,4)})`});case f.windowUpdate:retu" +
  "rn this.#O(e);default:return}}#B(e){if(e.streamId!==k||!this.#u)throw K(\"data that nobody has asked for\");let{" +
  "start:t,end:n}=ge(e,0);if(this.#h+=e.end-e.start,this.#h>ve)throw new m(p.flowControlError,\"more than its wind" +
  "ow\");this.#o.read(e.bytes.subarray(t,n),(o,i)=>{if(o!==0)throw new Error(\"compressed cells were not asked for\"" +
  ");this.#f.push(Bt(i).slice())}),(e.flags&g.endStream)!==0&&this.#g({message:\"the relay ended the stream\"}),thi" +
  "s.#E()}#S(e){if(e.streamId!==k)throw K(\"an answer to a stream that was not opened\");let{start:t,end:n}=ge(e,(e" +
  ".flags&g.priority)!==0?5:0),o=(e.flags&g.endStream)!==0;this.#a=new ie({id:k,endStream:o},Rt),this.#A(this.#a," +
  "e,{start:t,end:n})}#k(e){if(this.#a===void 0||e.streamId!==k)throw K(\"nothing to continue\");this.#A(this.#a,e," +
  "e)}#A(e,{bytes:t,flags:n},{start:o,end:i}){if(e.add(t,o,i),(n&g.endHeaders)===0)return;this.#a=void 0;let s=e." +
  "join(),{fields:l}=this.#n.decode(s,0,s.length),u=new Map(l.map(({name:a,value:h})=>[a,h]));this.#u||this.#M(u)" +
  ",e.endStream&&this.#T(u)}#M(e){let t=Number(e.get(\":status\"));if(t>=100&&t<200||(this.#u=!0,t===200))return;le" +
  "t n=`The relay returned HTTP status ${t} for Session`;this.#g(Ft(t,e.get(\"retry-after\"),{message:n}))}#T(e){le" +
  "t t=Wr(e.get(\"grpc-message\")||\"the relay ended the stream\"),n=e.get(\"grpc-status\")===\"0\";this.#g(n?{message:\"t" +
  "he relay ended the stream\"}:It(e.get(\"grpc-status-details-bin\")??\"\",t))}#U(e){if((e.end-e.start)%O!==0)throw H" +
  "t();(e.flags&g.ack)===0&&(Ne(e,(t,n)=>{t===A.maxFrameSize&&(this.#c=n),t===A.initialWindowSize&&(this.#s+=n-th" +
  "is.#d,this.#d=n)}),this.#_(P(f.settings,g.ack,0)),this.#E())}#O(e){let t=V(e.bytes,e.start);if(e.streamId===0?" +
  "this.#i+=t:this.#s+=t,t===0||Math.max(this.#i,this.#s)>re)throw new m(p.flowControlError,\"a window of a size t" +
  "hat it cannot have\");this.#E()}#H(){let e=le(this.#h);this.#h=0;let t=[0,k].map(n=>P(f.windowUpdate,0,n,e));th" +
  "is.#_(ce(t))}#_(e){if(++this.#l>Or)throw K(\"it reads no answers\");this.#e.write(e).then(()=>this.#l--,()=>{})}" +
  "#L(e){let t=e instanceof m?e.code:p.protocolError,n=P(f.goaway,0,0,ce([le(0),le(t)]));this.#e.write(n).catch((" +
  ")=>{}),this.#m=!0,this.#g({message:`the relay broke HTTP/2: ${L(e)}`})}#g(e){this.#p=!0,this.#y??=e,this.#b(th" +
  "is.#y),this.#E(),this.#I()}#I(){this.#m||(this.#m=!0,this.#x=this.#x.then(()=>this.#e.write(P(f.data,g.endStre" +
  "am,k))).catch(()=>{})),this.#w??=this.#t(Hr,()=>this.#F()),this.#p&&this.#x.then(()=>this.#e.end())}#F(){this." +
  "#w?.(),this.#w=()=>{},this.#m=!0,this.#p=!0,this.#y??={message:je},this.#E(),this.#e.destroy()}#R(){return new" +
  " Promise(e=>this.#C.push(e))}#E(){for(let e of this.#C.splice(0))e()}};function Ot({bytes:r,start:e},t){return" +
  " We(Q(r,e+t))}function K(r){return new m(p.protocolError,r)}function Ht(){return new m(p.frameSizeError,\"a fra" +
  "me has a length that its type does not allow\")}function Wr(r){try{return decodeURIComponent(r).slice(0,1024)}c" +
  "atch{return r.slice(0,1024)}}import{createHash as Gr}from\"node:crypto\";import{isIP as Zr}from\"node:net\";import" +
  "{connect as Yr,rootCertificates as Xr}from\"node:tls\";import{Buffer as $r}from\"node:buffer\";import{request as D" +
  "r}from\"node:http\";import{Agent as jo,request as Kr}from\"node:https\";import{BlockList as Nr,isIP as Ee}from\"nod" +
  "e:net\";import zr from\"node:process\";function qr(r,e=zr.env){let t=Lt(e,\"ALL_PROXY\",\"all_proxy\",\"HTTPS_PROXY\",\"" +
  "https_proxy\"),n=Lt(e,\"NO_PROXY\",\"no_proxy\");if(t===void 0||Qr(r,e[n??\"\"]??\"\"))return;let o=e[t]??\"\",i=o.includ" +
  "es(\"://\")?o:`http://${o}`,s=URL.canParse(i)?new URL(i):void 0;if(s?.protocol!==\"http:\"&&s?.protocol!==\"https:\"" +
  ")throw new Error(`${t} is no address of an HTTP proxy; write http://host:port`);if(Wt(s.username)&&Wt(s.passwo" +
  "rd))return s;throw new Error(`${t} has a \"%\" in its name or password that encodes nothing; write %25 for it`)}" +
  "function Lt(r,...e){return e.find(t=>(jr(r,t)??\"\")!==\"\")}function jr(r,e){try{return r[e]}catch{return}}functi" +
  "on Wt(r){try{return decodeURIComponent(r),!0}catch{return!1}}function Qr(r,e){return e.split(\",\").map(t=>t.tri" +
  "m().toLowerCase()).some(t=>{if(t===\"\")return!1;if(t===\"*\")return!0;if(Ee(r)!==0)return Vr(r,t);let n=t.replace" +
  "(/^\\./,\"\");return r===n||r.endsWith(`.${n}`)})}function Vr(r,e){let[t,n]=Ee(r)===6?[\"ipv6\",128]:[\"ipv4\",32],[o" +
  "=\"\",i=String(n),...s]=e.replace(/^\\[|\\]$/g,\"\").split(\"/\");if(!(Ee(o)===Ee(r)&&/^\\d+$/.test(i)&&Number(i)<=n&&s" +
  ".length===0))return!1;let u=new Nr;return u.addSubnet(o,Number(i),t),u.check(r,t)}async function $t(r,e){let t" +
  "=qr(r.host);return t&&await Jr(r,t,e)}function Jr(r,e,t){let n=xe(r),{protocol:o,hostname:i,port:s,username:l," +
  "password:u}=e,a=decodeURIComponent(l),h=$r.from(`${a}:${decodeURIComponent(u)}`).toString(\"base64\");return new" +
  " Promise((U,_)=>{let M=(y,T)=>_(new Error(`the proxy ${e.host} does not lead to ${n}: ${y}`,{cause:T})),H=(o==" +
  "=\"https:\"?Kr:Dr)({host:i.replace(/^\\[|\\]$/g,\"\"),port:s===\"\"?o===\"https:\"?443:80:Number(s),method:\"CONNECT\",pat" +
  "h:n,headers:{host:n,...l!==\"\"&&{\"proxy-authorization\":`Basic ${h}`}},agent:!1,...t&&{signal:t}});H.once(\"conne" +
  "ct\",({statusCode:y=0},T,qt)=>{T.on(\"error\",()=>{});let Qe=y>=200&&y<300;if(Qe&&qt.length===0)return U(T);T.des" +
  "troy(),M(Qe?\"it says more than it was asked\":`HTTP status ${y}`)}),H.once(\"response\",({statusCode:y})=>{H.dest" +
  "roy(),M(`HTTP status ${y}`)}),H.on(\"error\",y=>t?.aborted?_(t.reason):M(y.message,y)),H.end()})}async function " +
  "Dt(r,e,t){return await en(r,{tunnel:await $t(r,t),protocol:e,signal:t})}function en({host:r,port:e,trust:t},{t" +
  "unnel:n,protocol:o,signal:i}){return new Promise((s,l)=>{if(i.aborted)return n?.destroy(),l(i.reason);let u=t." +
  "certificateHashes.length>0,a=Yr({host:r,port:e,...n&&{socket:n},...Zr(r)===0&&{servername:r},ALPNProtocols:[o]" +
  ",minVersion:\"TLSv1.3\",...t.caCerts.length>0&&{ca:[...Xr,...t.caCerts]},rejectUnauthorized:!u}),h=_=>{i.removeE" +
  "ventListener(\"abort\",U),a.destroy(),l(_)},U=()=>h(i.reason);i.addEventListener(\"abort\",U),a.on(\"error\",h),a.on" +
  "ce(\"secureConnect\",()=>{if(u&&!tn(a,t))return h(new Error(\"the relay's certificate is none of tls.certificateH" +
  "ashes\"));if(a.alpnProtocol!==o)return h(new Error(`the server does not speak ${o}`));i.removeEventListener(\"ab" +
  "ort\",U),s(a)})})}function tn(r,{certificateHashes:e}){let t=Gr(\"sha256\").update(r.getPeerCertificate().raw).di" +
  "gest();return e.some(n=>ke(n,t))}var Kt={transport:\"grpc\",carrier:\"tcp\",unusable:()=>{},connect:async(r,e)=>{l" +
  "et t=await Dt(r,\"h2\",e);t.setNoDelay(!0);let n=new Ae(rn(t),r,q);return t.on(\"data\",o=>n.receive(o)),t.once(\"e" +
  "rror\",o=>n.lost(o.message)),t.once(\"close\",()=>n.lost()),n}};function rn(r){return{write:e=>new Promise((t,n)=" +
  ">{r.write(e,o=>o?n(o):t())}),end:()=>{r.end()},destroy:()=>{r.destroy()}}}var Ce=class{#e=new Map;offer(e,t){t" +
  "his.#e.delete(e),this.#e.set(e,t)}take(e){for(let[t,n]of this.#e)if(!(n.length>e))return this.#e.delete(t),n}}" +
  ";var nn=2e3;function Nt(r,e){let t,n,o=0,i=new Ce,s=a=>{r.post({kind:\"written\",takenBytes:o-a.pendingBytes,cou" +
  "nts:a.counts})},l=async({transport:a,target:h,isTapped:U})=>{let _=e.connectors.find(y=>y.transport===a);if(_=" +
  "==void 0)throw new Error(`no way to connect by ${a} in a thread of its own`);let M=t=await _.connect(h,new Abo" +
  "rtController().signal),H=n=new ee({cellBytes:C.cellBytes,write:(y,T)=>(U&&r.post({kind:\"sent\",cells:y.slice()," +
  "cellBytes:T}),M.write(y,T)),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUi" +
  "nt32(0)/2**32,rider:y=>i.take(y),onWritten:()=>s(H),onFailed:()=>r.post({kind:\"failed\"})});M.closed.then(y=>r." +
  "post({kind:\"closed\",end:y})),r.post({kind:\"connected\"})},u=async()=>{let a=await t?.read();r.post({kind:\"chunk" +
  "\",bytes:a?.slice()})};r.listen(a=>{switch(a.kind){case\"connect\":return void l(a).catch(h=>r.post({kind:\"refuse" +
  "d\",message:L(h)}));case\"push\":return o+=a.envelope.length+w,n?.push(a.lane,a.envelope);case\"offer\":return i.of" +
  "fer(a.key,a.envelope);case\"cellBytes\":return n?.setCellBytes(a.cellBytes);case\"configure\":return n?.configure(" +
  "a.mode,a.intervalMs);case\"covering\":return n?.setCovering(a.covering);case\"flush\":return void n?.flush(a.timeo" +
  "utMs).then(h=>{r.post({kind:\"flushed\",id:a.id,flushed:h})});case\"read\":return void u();case\"stop\":return n?.st" +
  "op();case\"close\":return t?.close(a.closeCode),void e.after(nn,e.exit)}})}function zt(r){let e=globalThis;Nt({p" +
  "ost:t=>e.postMessage(t),listen:t=>{e.onmessage=({data:n})=>t(n)}},{connectors:r,nowMs:tt,after:q,randomBytes:r" +
  "t,exit:()=>e.close()})}zt([ot,Kt]);\n";
