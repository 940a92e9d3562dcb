// An answer that was received suits the client dexscreener-api. There is a copy of this file for each answer.
import received from './received.json';
import type { Answer } from './dexscreener.js';

export const answer: Answer = received;
