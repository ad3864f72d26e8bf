import { setDefaultTimeout } from 'bun:test'

// Loaded before every test file (`bunfig.toml`). It only ends a test that hangs: what takes milliseconds on a quiet machine
// takes seconds on a busy one, and no test is judged by its speed.
setDefaultTimeout(120_000)
