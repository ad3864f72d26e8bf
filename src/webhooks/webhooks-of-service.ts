import { version } from '../../package.json' with { type: 'json' }
import { lineSentence } from '../../views/attention/attention-sentences.ts'
import { textOf } from '../../views/log/sentence-parts.ts'
import type { WebhookParts } from '../actors/webhooks/webhook-parts.ts'
import type { Config } from '../config.ts'
import { systemEntropy } from '../entropy.ts'
import { openMaster } from './master.ts'
import { signedSender } from './signed-webhook.ts'

/** `sendsWaiting`: false for a command, which ends soon. */
export const webhooksOf = (
  { nodeName, dataDir, eventStore, webhooks }: Config,
  { sendsWaiting }: Pick<WebhookParts, 'sendsWaiting'>,
): WebhookParts => ({
  node: nodeName,
  sendsWaiting,
  master: ({ mayMake }) =>
    openMaster({
      given: webhooks.master,
      dataDir,
      hasEmbeddedLog: eventStore === null,
      newBytes: mayMake ? (count) => systemEntropy.bytes(count) : null,
    }),
  send: signedSender({ privateAddresses: webhooks.privateAddresses }, version),
  wordsOf: (line, keyLabel) => textOf(lineSentence(line, { keyLabel: () => keyLabel })),
})
