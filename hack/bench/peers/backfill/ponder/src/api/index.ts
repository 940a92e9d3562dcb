import { Hono } from "hono";

// Ponder wants an API. Nothing asks it anything.
export default new Hono();
