import { Argument, Command } from 'commander'
import { requireTableName, SCHEMAS, type SchemaName, tableSchema } from '../../stores/document/table-schema.ts'
import type { CliContext } from '../cli-context.ts'

/**
 * Returns the command `sessmgr schema`, which prints the SQL that creates the table of a database store. It needs no
 * configuration.
 */
export function schemaCommand({ print }: CliContext): Command {
  return new Command('schema')
    .description("print the SQL that creates sessmgr's table in a database")
    .addArgument(new Argument('<database>', 'kind of database').choices(SCHEMAS))
    .option('--table <name>', 'name of the table', 'sessmgr')
    .action((database: SchemaName, { table }: { table: string }) => {
      requireTableName(table)
      for (const statement of tableSchema(database, table)) print(`${statement};`)
    })
}
