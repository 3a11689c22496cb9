/**
 * Passwords that everybody who guesses tries first: the head of the lists that leaks have made
 * public, of eight characters and more, because shorter ones are refused anyway. A short list, on
 * purpose: it stops the guesses that rate limits leave room for.
 */

const common = new Set(
  `
  !qaz2wsx 00000000 000000000 0000000000 01234567 012345678 0123456789 0987654321 10101010 1020304050
  102030405060 1029384756 11111111 111111111 1111111111 11112222 11223344 1122334455 112233445566 12121212
  121212121 123123123 1231231234 123321123 12341234 12344321 123454321 1234554321 123456654321 12345678
  123456789 1234567890 1234567891 12345678910 123456789a 12345678a 12345678q 1234567a 1234567q 123456aa 123456ab
  123456abc 123456qwerty 12345abc 12345qwert 1234abcd 1234qwer 123654789 123abc123 123qwe123 123qweasd 13579246
  135792468 142536475869 147258369 147852369 159357159 159753159 19841984 1q2w3e4r 1q2w3e4r! 1q2w3e4r5t
  1q2w3e4r5t6y 1qaz1qaz 1qaz2wsx 1qaz2wsx3edc 1qazxsw2 20202020 22222222 27182818 2wsx3edc 31415926 314159265
  321654987 33333333 44444444 456789123 55555555 66666666 741852963 77777777 777777777 789456123 87654321
  88888888 963852741 987654321 9876543210 99999999 a1234567 a12345678 a123456789 a1b2c3d4 a1b2c3d4e5 a1s2d3f4
  aa123456 aa12345678 aaaa1111 aaaaaaaa aaaaaaaaa aaaaaaaaaa abc123123 abc12345 abc123456 abc1234567 abc123abc
  abcabcabc abcd1234 abcd12345 abcd123456 abcdefgh abcdefghi abcdefghij access123 access14 admin123 admin1234
  admin12345 admin123456 adminadmin administrator administrator1 alejandra alejandro alexander alexander1
  alexandra america1 americana andrew12 andrew123 angel123 angelina angels123 anthony1 anthony123 anything
  argentina1 arsenal1 arsenal123 as123456 asd12345 asdasdasd asdf1234 asdfasdf asdfghjk asdfghjkl asdfjkl;
  asdfqwer asshole1 australia autumn2024 azerty123 azertyuiop babyboy1 babygirl babygirl1 bailey12 banana12
  banana123 barcelona barcelona1 baseball baseball1 basketball basketball1 batman12 batman123 beatles1 beautiful
  beautiful1 benjamin benjamin1 bestfriend bigdaddy blessed1 blessing blink182 blizzard blowjob1 blueberry
  brandon1 brandon123 brazil123 brittany brittany1 buddy123 bullshit business1 buster12 buttercup butterfly
  butterfly1 california callofduty cameron1 carlos123 caroline catherine changeit changeme changeme1 changeme123
  charlie1 charlie123 charlotte chelsea1 chelsea123 chelseafc chocolate chocolate1 christ123 christian christine
  christopher cinderella cisco123 cocacola cocacola1 college1 colorado company123 computer computer1 cookie12
  cookie123 correcthorse correcthorsebatterystaple corvette counterstrike cowboys1 cristiano crystal1 cupcake1
  daddy123 daniel12 daniel123 danielle danielle1 darkness database december december1 default1 deutschland
  developer developer1 diamond1 diamonds docker123 dragon12 dragon123 dragonball dragons1 dropbox1 elizabeth
  elizabeth1 elvis123 eminem123 england1 facebook facebook1 family123 february fernando ferrari1 florida1
  flower12 flower123 flowers1 football football1 forever1 foreverlove fortnite fortnite1 francesco francisco
  freedom1 freedom123 friends1 friendship fuckoff1 fuckyou! fuckyou1 fuckyou123 fuckyou2 gabriel1 gamecube
  gandalf1 garfield germany1 ginger12 ginger123 github123 gitlab123 godisgood goodbye1 google123 greenday
  greenday1 guest123 guestguest guillermo guitar12 guitar123 hamburg1 happiness harley123 heaven123 hello123
  hello1234 hello12345 hellohello helloworld hockey123 honda123 hospital hunter12 hunter123 hurricane iloveg0d
  iloveme1 iloveu123 iloveyou iloveyou! iloveyou1 iloveyou12 iloveyou123 iloveyou2 incorrect instagram internet
  internet1 ireland1 ironman1 isabella isabelle jackson1 january1 jasmine1 jenkins1 jennifer jennifer1 jessica1
  jessica123 jesus123 jesuschrist jonathan jonathan1 jordan123 jordan23 joshua12 joshua123 juniper1 juventus
  killer12 killer123 kimberly kristina kubernetes lakers24 lamborghini lauren12 letmein! letmein1 letmein12
  letmein123 lightning linkedin linkinpark linux123 liverpool liverpool1 liverpoolfc lkjhgfdsa login123
  loginlogin london123 lordofthering lovelove lovely123 loveme123 loveyou123 lucky123 lucky777 madison1 maggie12
  manager1 manchester manutd99 margaret marketing master01 master12 master123 masters1 matrix123 matthew1
  matthew123 maverick melissa1 mercedes messi123 metallica metallica1 mexico123 michael1 michael123 michelle
  michelle1 mickey12 mickey123 mickeymouse microsoft midnight midnight1 minecraft minecraft1 mnbvcxz1 mommy123
  monday123 monkey12 monkey123 monkeys1 monster1 monster123 montana1 moonlight mother123 motherfucker mustang1
  mustang12 mustang69 mylove123 mypassword myspace1 mysql123 natalie1 nathan12 neo12345 newpassword newyork1
  nicholas nicholas1 nintendo nirvana1 nothing1 november october1 office123 openopen opensesame oracle123
  orange12 orange123 p@ssw0rd p@ssw0rd! p@ssw0rd1 p@ssword p@ssword1 pa$$w0rd pa$$word pa55word packers1
  passw0rd passw0rd1 password password! password00 password01 password1 password1! password12 password123
  password123! password1234 password12345 password123456 password2 password2020 password2021 password2022
  password2023 password2024 password2025 password2026 password99 passwords passwort passwort1 patricia patrick1
  patriots peace123 peanut12 peanut123 pepper12 pepper123 pepsi123 pikachu1 pineapple platinum playstation
  poiuytrewq pokemon1 pokemon123 porsche1 porsche911 portugal1 postgres postgres1 precious1 princesa princess
  princess1 princess12 princess123 pumpkin1 purple12 purple123 pussycat q1234567 q12345678 q123456789 q1w2e3r4
  q1w2e3r4t5 q1w2e3r4t5y6 qazwsx12 qazwsx123 qazwsxedc qazwsxedcrfv qwe12345 qwe123qwe qweasd123 qweasdzxc
  qweqweqwe qwerty01 qwerty1! qwerty12 qwerty123 qwerty123! qwerty1234 qwerty12345 qwerty123456 qwerty78
  qwertyqwerty qwertyui qwertyuiop qwertz123 qwertzuiop rainbow1 rainbow123 ranger12 raspberry raspberrypi
  realmadrid rebecca1 redskins richard1 robert12 robert123 rocky123 ronaldo7 rootroot samantha samantha1
  samsung1 samsung123 santiago sapphire school123 scooby12 scotland sebastian secret12 secret123 security
  september server123 service1 shadow12 shadow123 skywalker slipknot slipknot1 snapchat snoopy12 soccer12
  soccer123 softball spiderman spiderman1 spring2023 spring2024 spring2025 starcraft starlight startrek
  startrek1 starwars starwars1 steelers stephanie stephen1 strawberry student1 student123 summer12 summer123
  summer2020 summer2021 summer2022 summer2023 summer2024 summer2025 sunflower sunshine sunshine1 superman
  superman1 superuser supervisor support1 support123 sweetheart sweetpea sysadmin system123 teacher1 temp1234
  temppass test1234 test12345 testing1 testing123 testtest thepassword thomas12 thomas123 thunder1 tigger12
  tigger123 tinkerbell toortoor topsecret toyota12 training1 trombone trustno1 trustnoone twitter1 ubuntu123
  university usa12345 veronica victoria victoria1 volleyball voyager1 warcraft welcome01 welcome1 welcome1!
  welcome123 welcome2 welcome2023 welcome2024 welcome2025 whatever whatever1 whatsapp1 william1 william123
  windows1 windows10 winter12 winter123 winter2020 winter2021 winter2022 winter2023 winter2024 winter2025
  x1234567 xbox3600 yamaha12 yankees1 yankees2 yellow12 youtube1 z1234567 z12345678 zaq12wsx
  zaq1xsw2 zaq1zaq1 zxcv1234 zxcvbnm, zxcvbnm1 zxcvbnm123 zxcvzxcv zxczxczxc 
`.trim().split(/\s+/),
);

/** Letters count alike, large or small. */
export function isCommonPassword(password: string): boolean {
  return common.has(password.normalize("NFC").toLowerCase());
}
