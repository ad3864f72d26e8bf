import Bowser from 'bowser'
import { browserCharsMax, userAgentCharsMax } from '../../../limits.ts'

/** The browser and its system in a few words, like `Firefox 128 on Windows`. */
export const browserName = (userAgent: string | null): string => {
  const said = (userAgent ?? '').slice(0, userAgentCharsMax)
  if (said === '') return unknown
  const { browser, os } = Bowser.parse(said)
  if (browser.name === undefined || browser.name === '') return unknown
  const [version = ''] = (browser.version ?? '').split('.', 1)
  const name = [browser.name, version].filter((word) => word !== '').join(' ')
  return plain(os.name === undefined ? name : `${name} on ${os.name}`).slice(0, browserCharsMax)
}

const unknown = 'an unknown browser'

/** Parts of the name are text from the header, so a client can choose them. */
const plain = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?')
