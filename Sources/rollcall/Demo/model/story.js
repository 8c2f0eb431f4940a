// What the bots say, repeatedly.

export const STORY = [
  ["chloe", "Weather says 24 degrees and no wind ☀️"],
  ["deniz", "Then I bring the canoe"],
  ["emil", "Who has a car? I have room for two more in mine"],
  ["gal", "Me please! From the station?"],
  ["emil", "Nine at the station works"],
  ["fatima", "سأحضر السلطة والخبز 🥗"],
  ["haruka", "おにぎり、作っていくね 🍙"],
  ["chloe", "Haruka, you are the best"],
  ["deniz", "Is there a grill, or shall I bring mine?"],
  ["gal", "There is one on the north side, but it is always taken by noon"],
  ["deniz", "Mine it is then 🔥"],
  ["gal", "אני מביאה אבטיח 🍉"],
  ["emil", "Can somebody think of sunscreen this time? Not naming names"],
  ["chloe", "That was ONE time 😂"],
  ["fatima", "And a speaker? Not too loud, there are herons nesting"],
  ["haruka", "I have a small one"],
  ["deniz", "Swimming to the island, who is in?"],
  ["gal", "Only if it is above 20 in the water"],
  ["emil", "It was 21 yesterday"],
  ["gal", "Then no excuse left 🏊"],
  ["chloe", "Lovely. See you all on Saturday!"],
  ["fatima", "إن شاء الله 💛"],
];

/** What bots answer to a visitor. */
export const ANSWERS = ["Good idea!", "Count me in", "Noted 📝", "Ha, yes", "Why not!", "いいね 👍", "أكيد!", "סבבה 🙂"];
