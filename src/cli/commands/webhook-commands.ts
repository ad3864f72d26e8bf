import { type Command, InvalidArgumentError } from 'commander'
import { type AttentionKind, attentionKinds } from '../../domain/attention/attention-lines.ts'
import { webhookFields, webhookTable } from '../show/text-for-people.ts'
import { type JsonOption, jsonFlag } from './options.ts'
import { listing, type Runner } from './runner.ts'

export const addWebhookCommands = (program: Command, runner: Runner): void => {
  const webhook = program
    .command('webhook')
    .description(
      'Make, list, test and remove webhooks. What starts or stops needing attention is sent to their addresses',
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
  webhook
    .command('remove')
    .description('Remove a webhook')
    .argument(...webhookId)
    .option('--yes', 'also if messages wait for it. They are not sent')
    .option(...jsonFlag)
    .action((id: string, options: JsonOption & { readonly yes?: boolean }) =>
      runner.run({ op: 'remove_webhook', webhookId: id, isConfirmed: options.yes === true }, options, {
        text: webhookFields,
      }),
    )
  addWithId(webhook, runner)
}

const webhookId = ['<id>', 'the id of the webhook'] as const

type SetOptions = JsonOption & { readonly id?: string | null; readonly kinds?: readonly AttentionKind[] }

const kindsOption = (text: string): readonly AttentionKind[] =>
  text.split(',').map((name) => {
    const kind = attentionKinds.find((one) => one === name.trim())
    if (kind === undefined) throw new InvalidArgumentError(`"${name}" is not one of ${attentionKinds.join(', ')}.`)
    return kind
  })

const addWithId = (webhook: Command, runner: Runner): void => {
  const commands = [
    ['test_webhook', 'test', 'Send a test, and say what came of it'],
    ['webhook_secret', 'secret', 'Print the secret, with which the receiver checks that messages come from here'],
  ] as const
  for (const [op, name, description] of commands) {
    webhook
      .command(name)
      .description(description)
      .argument(...webhookId)
      .option(...jsonFlag)
      .action((id: string, options: JsonOption) => runner.run({ op, webhookId: id }, options, { text: webhookFields }))
  }
}
