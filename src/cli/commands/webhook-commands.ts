import { type Command, InvalidArgumentError } from 'commander'
import { type AttentionKind, attentionKinds } from '../../domain/attention/attention-lines.ts'
import { webhookFields, webhookTable } from '../show/text-for-people.ts'
import { type JsonOption, jsonFlag } from './options.ts'
import { listing, type Runner } from './runner.ts'

export const addWebhookCommands = (program: Command, runner: Runner): void => {
  const webhook = program
    .command('webhook')
    .description(
      'Make, list, test and remove webhooks. What begins or ceases to need attention is sent to their addresses',
    )
  webhook
    .command('list')
    .description('List the webhooks')
    .option(...jsonFlag)
    .action((options: JsonOption) =>
      runner.run(
        { op: 'list_webhooks' },
        options,
        listing(webhookTable, 'No webhooks yet. Make one: cellarbook webhook set URL'),
      ),
    )
  webhook
    .command('set')
    .description('Make a webhook, or change the one with --id')
    .argument('<url>', 'the address, which begins with https://. For this machine, http://127.0.0.1 is possible')
    .option('--id <id>', 'the webhook to change')
    .option(
      '--kinds <kinds>',
      `what is sent, with commas between: ${attentionKinds.join(', ')} (default: all)`,
      kindsOption,
    )
    .option(...jsonFlag)
    .action((url: string, { id = null, kinds = [], ...options }: SetOptions) =>
      runner.run({ op: 'set_webhook', webhookId: id, url, kinds: [...kinds] }, options, { text: webhookFields }),
    )
  addWithId(webhook, runner)
}

type SetOptions = JsonOption & { readonly id?: string | null; readonly kinds?: readonly AttentionKind[] }

const kindsOption = (text: string): readonly AttentionKind[] =>
  text.split(',').map((name) => {
    const kind = attentionKinds.find((one) => one === name.trim())
    if (kind === undefined) throw new InvalidArgumentError(`"${name}" is not one of ${attentionKinds.join(', ')}.`)
    return kind
  })

const addWithId = (webhook: Command, runner: Runner): void => {
  const commands = [
    ['remove_webhook', 'remove', 'Remove a webhook. Messages that wait for it are not sent'],
    ['test_webhook', 'test', 'Send a test, and say what came of it'],
    ['webhook_secret', 'secret', 'Print the secret, with which the receiver checks that messages come from here'],
  ] as const
  for (const [op, name, description] of commands) {
    webhook
      .command(name)
      .description(description)
      .argument('<id>', 'the id of the webhook')
      .option(...jsonFlag)
      .action((webhookId: string, options: JsonOption) =>
        runner.run({ op, webhookId }, options, { text: webhookFields }),
      )
  }
}
