"""Small HDF5 files as Keras 2 writes them, made once by h5py, which is in the environment `main` only.

Each has the attributes keras_version and backend, a model_config of 1500 bytes that begins with CONFIG, and a group
model_weights/dense with the datasets dense/kernel:0 (4 by 2) and dense/bias:0, except that in LINKED the kernel is
h5py.ExternalLink("/etc/passwd", "/kernel"), in ELSEWHERE it is a dataset with external=[("/etc/passwd", 0, 32)], and in
HUGE one of 2**20 by 2**18 numbers of which none is stored. BARE has a dataset and no model. Then
base64.b85encode(zlib.compress(data, 9)).
"""

import base64
import zlib


def unpacked(text: str, config: str = "") -> bytes:
    """The bytes of a file, with its model_config replaced."""
    data = zlib.decompress(base64.b85decode("".join(text.split())))
    return data.replace(b"CONFIG".ljust(1500), config.encode().ljust(1500)) if config else data


PLAIN = """
c-rlm%}(1u5XX0&kGfGnL9GNdBJ~mVg9fBZ6_-*$z?CXewLSEf8nTcm!Io@P=&3!Xw?0CTJ@N=W_7OPrz+-Tu_U?}DU6~M3Dk?I+DBA4WnQUg~zxIs3+
H30*rF$h3VVWdQDkROB<mY3x563^qmdbV@+aCsu7x=LmIbM<Wt(^MBcW)YvsB@+fPed9p2{Mk@jTf(@_PrVo<d>nIx97E4zjeU6yPf?Y6_+cQ{M{)TuX
<dUi7mr-lH3iWvd4TUXnkaU(DmGKe3laa%}P86Q_)E=70i^|TalklZg0!k?lHH0p`B97j-kwJg4+@P*!J9=?k*W&UcU>8z1$G}o)ks@l#Hg|lPc;L^_%
Dyt}=t7dS08k0ZYZB{g=NB`nB_--zkEAL2u<SCTB?B`NaH|>+G?BkKYL=5J`bjs_27i^Slb(=C61^;qwmFo2A?NInh6q;~T5ZS2VRCioKAfg~g`}b+Na
^^A6b$|G($&^u2>*uZZ`Lkk#hq`pXRqK@bGFLBKU@*!7@r&UFO%b{p@B5ClOG1VOHYx0}s1%BvRwE3ei8^tuU>%|-Q3>jBn3vHqD+|E&Jo`lqh%<6D}(
XQjTYxJDz@ku`sn<%&knTcSF$c=D7KlA}8EWU7t~byOq0-cNeWcUgbAE_z#CCs?k-I*I2muwazTi`Jkdori-xy`Kx`6rDL`-IvEKGHsIS&jj*xlOHz>V
bGKn;~XWH+_^MQ9A4`>Q2t8l+ORItE#$bCtvC1=r#00ccpm!Td(g+T8z0$Uo)3Q`2!bF8GH!Wm=ON~;<BXm^9@W(RQNQm-hWXKm^OmDW!_NnQf1g9&sr
jFt4-1c;mtS8#|Fx{_op118`Qs0%O^mY
"""

LINKED = """
c-rlnzfaph6vyxE#Brm5f=UJShhjP*29hFmVR8ilSE>kVJ9G;sIUq`~ksUSd)HU7s6Bs-8&)|>fz}WwSo_%-rooi~;3RNxdvp9EWKfj#c_xb$n&(7BNO
!Z+EMVKZkp*oVe;#{t(Z85&jx0r9IeEUTc{pEOUk@wfReM?sleEYiHjv7}P5=XcJ69IP-r~P6t+P+i60bOY7ekXpPjJgvtI65AOQe4`<dEPl5ui3b+A%
}<WESjfLIV6D_cHfgA9QYpXU&1IpvYz;0DmpQwV8*dMoBuXrdk1cBNW6ZbovLI<Q~a8V?Xdai`QG8+2;IQ1Z{^gU9{20H`n@z%{TJ!?_z~zA^qcBe+-0
VQx?i7oA(7(I`NQ)H{W>KchlbFv&|8hh<RTimA4$;l+!GSU{r9N@krXh-iazj9e&*}r>tojbQ1t&RxBLH#*xBs7!jeNuexj_eJ$t^^V!0*BH<U5;(+>_
u{v^#6N&cX0c6PU4?pOc-0Kk8QeE+z(2WuMu00000fPaZMyPYi@R~;EvNv#89>n1=xMfK0`4XA&D&QhJ(m5k1oxXvmtS2wEXX6CELE346akEou@-T<Wq
-Kd^BE7fyFJyVnGuFW9{JTls7vDU%B4L4fiI#qJ(ysc%{-dFMfy8b;TaHq+>2N3z-tfB5F^1|LN<)4)&ne*`WX#=j&uMoOF=ifuvnei%}VJx)`w8G}uv
`vv+9w5{t<6iUB4Z}$v@vI}R2m4+^7{NT_T$i_WIv$P8Sq;RNY8F~B(ZVM_UgrL2nub}tF?%{bf11A{nZiW|00000;IE=3Ph9y=REAg|A%i`xoh>WJ{{
UH>iHr
"""

ELSEWHERE = """
c-rk*J#W)M7{0R;$3$tB3Z$k$6;nENY622c)hVb=Yb4ZEz`&Ne$+eA=+LaxVc47@1KZB8<z}S(Ifq{{KQO>?Q+jpcmP*no@KFj4k{NC&H^E{4Tzq2>DW
{P)<D1>RE94ezUE;zm{%Y8Aw$6L(XF>gO;Vmu$sRrq+B$G3F(!dEYv&9HN!AWnn_FcIJ;!frm@4cpf;9niTZuRHd-WY8Xw-r><ONb$1qhx^WPzN)+~A)
C{87Tuw&>=WM!+HZ&-^gNf2FJKg1S&nlsC7l>4GUF&-ga0<8c>7MLPuy;1oMI}DCgn8~#bM{s@!W&nA(|quulXdN9*yf0_500`^`E8RqkEuV&~Kt&@s=
4I^13c@1CrvSeZ_r+e(fCRp&|4u^j4yrte}B&M*Ozx9Frg#zfBVerGPP(^nriMbFw}@-e>*Ototuq@BL?Cd!zLnrxKF<iQ@6<qbI9%<}I<`Pz-6Fo_{d
#Mu}I%{z0+P+Sz)xZ2<rP0N_7D`u%Z!3;x>x00000008_;c)8Qs#8K6e!OF>X0JUxcn2fCY=l3eqKS5`S&Kd<pXA4|s1vsmz>bc5!m3U<}{O%FfbJ-W5
q@Wwtb7xcaTv5-|(skEbpZG2rtk+p@zvl$&b@80AROc0W>@KqYNp(6OI9&oCxXDnz16aI$UzOJhCW^k`qVS8gEBepMqU=8^j{%c`k-^Rki~b60H8zk_d
`0c+)Iq|Pb5@nlS!muw^Kbclo<5;)Uej2>0*#OPcH#4DT;d;sM<#bD9Si5NR0duPpDRe_)83N2u11EP+KCecqi%|iT72E7hrixO+;9B>a8TxBUg0A<(a
YX*zstXbPoI}3GjIG?p34vG(u7$
"""

HUGE = """
c-rk+F;Ck-6uvt<i5mqJR3xA+irX?U(STH`VoC)8SE>kVJ9JA8IUq`~k&OzSSi{z_W5<sD8T^P29s4in*>`8(xh{^1D$(-3<?_zw=jWI2dl$XSxwF18Q
N3415iARtsE$-z3VdGBZF&8j7_k^fV*Ennd?~&*E9UFMzisF@zIoMdN5*9aNg%?3g#fn^PW$<GG``j8fG&u>?$GbiVfTdg_YaOkg_o^AeD0LsYnInF<O
upsqG`s;0S(-+`<@12-}l)397ge-^&|#M(@9w&GmibW#Ahq^x8v>(sMjm>Q&s#BEv|{!56{Q0@9p*X(HL=kE2aL7c;3j>@AtB<|04Y!+z0)FepCI*U1n
6)*Y&6uQiYGsHJ>Z>>zIOvWvO4Ow;JQ*EE>8WXwdcCLmI~OcUb_D6fnk`KJYJb=Ii6@18$!dy?^EJzJC!m*E%n;5|CD(7*>{+pDs0dZAt14!!e7~5B7%
sNm?tC`oXZ)+1hxqX#)TN0N_7@x_?~Uf!{U&000000093IUT<~Qaoly}uuZ)WknNiQ@=?_P{Lz5^C+IBIS*w!K*__Z>1#&f3KR1)Fn&_-X=N?f%m!ANo
4c(}pJE`<@Wj~Xseb*-g8hCWL+T_+w-wjur@_WKspI64QJ<si<#&~t0^$6;~ZASJSz!u}jhQ3ZRQQDG=vR*v9X8l>5*XvJ~$AEmu|1-$MVYJ9cA~PvZc
FbJcU=<`<Ib}D*jE!b2G;=0amDo2FT_*;2Xo-qr5F;riCif;DaC!swHImfD(c`PvOa3(<0++7l70>AJ_N%dZL^3?WpBD0WpwW%Y%TMUweG>
"""

BARE = """
c-rgqaB<`1lHy_j0S*oZ76t(ZWbhvfBsfs{F!=;1%?PDCp!5nRm^dR?P68?}2sIyFT}Y6tD@gT!Gyt>5fCWNxFpPqc2s~UJ13+{Hln+a#Czw#x<(1|pr
4|*#)1wE4_A)ZCLd;@>@gXUhkr5)m3{{7qCBRAr73`sD)q%l;o5AEiQ~@hc6eQ2Y#KZ_m&k*yN8DU9V0?h>-gDM_^{rp`(IU1G^6_`iU<|r5i!vlP<hc
X-hZ89<9
"""
