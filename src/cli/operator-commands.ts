import { type Command, Option } from 'commander'
import type { Role } from '../domain/events.ts'
import type { Line } from './lines.ts'
import { type JsonOption, jsonFlag } from './options.ts'
import { linkText } from './render.ts'
import type { Runner } from './runner.ts'

export const addOperatorCommands = (program: Command, runner: Runner): void => {
  const operator = program.command('operator').description('Let people into the dashboard')

  operator
    .command('link')
    .description('Make a one-time link: for the first admin, for a new operator, or for a lost password')
    .option('--email <address>', 'whose it is. Without it: of whoever opens it first, while there is no operator yet')
    .addOption(
      new Option(
        '--role <role>',
        'of a new operator: admin for the first, auditor after that, unless it is named',
      ).choices(['admin', 'auditor']),
    )
    .option(...jsonFlag)
    .action((options: JsonOption & { readonly email?: string; readonly role?: Role }) =>
      runner.run(
        { op: 'issue_link', email: options.email ?? null, role: options.role ?? null },
        {
          json: options.json === true,
          text: (lines) => linksOf(lines).map(linkText).join('\n'),
          note: (lines) => linksOf(lines).map(noteOf).join('\n'),
        },
      ),
    )
}

const linksOf = (lines: readonly Line[]) => lines.flatMap((line) => (line.kind === 'link' ? [line.value] : []))

const noteOf = (link: { readonly role: Role; readonly expiresAt: string }): string =>
  `It works once, until ${link.expiresAt}, for an ${link.role}. Whoever has it can sign in: send it like a password.`
