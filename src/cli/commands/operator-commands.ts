import { Argument, type Command, Option } from 'commander'
import type { Role } from '../../domain/events.ts'
import { visibleText } from '../../hidden-characters.ts'
import type { Line } from '../show/lines.ts'
import { linkText, operatorFields, operatorTable } from '../show/text-for-people.ts'
import { type JsonOption, jsonFlag } from './options.ts'
import { listing, type Runner } from './runner.ts'

export const addOperatorCommands = (program: Command, runner: Runner): void => {
  const operator = program
    .command('operator')
    .description('Let people into the dashboard, change what they may, and take their access away')
  addLink(operator, runner)
  addList(operator, runner)
  addRole(operator, runner)
  addRemove(operator, runner)
}

const roles = ['admin', 'auditor'] as const

const addLink = (operator: Command, runner: Runner): void => {
  operator
    .command('link')
    .description('Make a one-time link: for the first admin, for a new operator, or for a lost password')
    .option('--email <address>', 'whose it is. Without it: of whoever opens it first, while there is no operator yet')
    .addOption(
      new Option(
        '--role <role>',
        'of a new operator: admin for the first, auditor after that, unless it is named',
      ).choices(roles),
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

const addList = (operator: Command, runner: Runner): void => {
  operator
    .command('list')
    .description('List who can sign in, then who is invited')
    .option(...jsonFlag)
    .action((options: JsonOption) =>
      runner.run(
        { op: 'list_operators' },
        listing(
          options,
          (lines) => operatorTable(operatorsOf(lines)),
          'Nobody can sign in yet. Make a link: cellarbook operator link',
        ),
      ),
    )
}

const addRole = (operator: Command, runner: Runner): void => {
  operator
    .command('role')
    .description('Make an operator an admin or an auditor, also where they are signed in already')
    .argument('<email>', 'whose role')
    .addArgument(new Argument('<role>', 'what they are from now on').choices(roles))
    .option(...jsonFlag)
    .action((email: string, role: Role, options: JsonOption) =>
      runner.run({ op: 'set_operator_role', email, role }, { json: options.json === true, text: operatorsText }),
    )
}

const addRemove = (operator: Command, runner: Runner): void => {
  operator
    .command('remove')
    .description(
      'Take away access, with every session and every link, or withdraw an invitation. Never of the last admin',
    )
    .argument('<email>', 'whose access')
    .option(...jsonFlag)
    .action((email: string, options: JsonOption) =>
      runner.run({ op: 'remove_operator', email }, { json: options.json === true, text: operatorsText }),
    )
}

const operatorsText = (lines: readonly Line[]): string => operatorsOf(lines).map(operatorFields).join('\n\n')

const operatorsOf = (lines: readonly Line[]) => lines.flatMap((line) => (line.kind === 'operator' ? [line.value] : []))

const linksOf = (lines: readonly Line[]) => lines.flatMap((line) => (line.kind === 'link' ? [line.value] : []))

const noteOf = (link: { readonly role: Role; readonly expiresAt: string }): string =>
  `It works once, until ${visibleText(link.expiresAt)}, for an ${link.role}. Whoever has it can sign in: send it like a password.`
