import { type Browser, chromium } from 'playwright-core'

/** Starts Chromium without a window. The flags stop its own requests to the network, so tests do not depend on it. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
