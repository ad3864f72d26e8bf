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
    .description('Invite people to the dashboard, change their roles, and remove their access')
  addLink(operator, runner)
  addList(operator, runner)
  addRole(operator, runner)
  addRemove(operator, runner)
}

const roles = ['admin', 'auditor'] as const

const addLink = (operator: Command, runner: Runner): void => {
  operator
    .command('link')
    .description('Create a one-time link for the first admin, a new operator, or a lost password')
    .option('--email <address>', 'e-mail of the person who gets the link. Not needed for the first admin')
    .addOption(
      new Option(
        '--role <role>',
        'role of a new operator (default: admin for the first operator, auditor for others)',
      ).choices(roles),
    )
    .option(...jsonFlag)
    .action((options: JsonOption & { readonly email?: string; readonly role?: Role }) =>
      runner.run({ op: 'issue_link', email: options.email ?? null, role: options.role ?? null }, options, {
        text: (lines) => linksOf(lines).map(linkText).join('\n'),
        note: (lines) => linksOf(lines).map(noteOf).join('\n'),
      }),
    )
}

const addList = (operator: Command, runner: Runner): void => {
  operator
    .command('list')
    .description('List the operators, then the invited people')
    .option(...jsonFlag)
    .action((options: JsonOption) =>
      runner.run(
        { op: 'list_operators' },
        options,
        listing(
          (lines) => operatorTable(operatorsOf(lines)),
          'Nobody can sign in yet. Create a link: cellarbook operator link',
        ),
      ),
    )
}

const addRole = (operator: Command, runner: Runner): void => {
  operator
    .command('role')
    .description('Change the role of an operator. Open sessions get the new role too')
    .argument('<email>', 'e-mail of the operator')
    .addArgument(new Argument('<role>', 'the new role').choices(roles))
    .option(...jsonFlag)
    .action((email: string, role: Role, options: JsonOption) =>
      runner.run({ op: 'set_operator_role', email, role }, options, { text: operatorsText }),
    )
}

const addRemove = (operator: Command, runner: Runner): void => {
  operator
    .command('remove')
    .description(
      'Remove the access, sessions and links of an operator, or withdraw an invitation. The last admin cannot be removed',
    )
    .argument('<email>', 'e-mail of the operator')
    .option('--yes', 'confirm the removal')
    .option(...jsonFlag)
    .action((email: string, options: JsonOption & { readonly yes?: boolean }) =>
      runner.run({ op: 'remove_operator', email, isConfirmed: options.yes === true }, options, { text: operatorsText }),
    )
}

const operatorsText = (lines: readonly Line[]): string => operatorsOf(lines).map(operatorFields).join('\n\n')

const noteOf = (link: { readonly role: Role; readonly expiresAt: string }): string =>
  `The link works once, until ${visibleText(link.expiresAt)}, for an ${link.role}. Anyone who has it can sign in: send it like a password.`

const operatorsOf = (lines: readonly Line[]) => lines.flatMap((line) => (line.kind === 'operator' ? [line.value] : []))

const linksOf = (lines: readonly Line[]) => lines.flatMap((line) => (line.kind === 'link' ? [line.value] : []))
