import { cpus } from 'node:os'
import { accountBench } from './account-bench.ts'
import { coldStartBench } from './cold-start-bench.ts'
import { commentsBench } from './comments-bench.ts'
import { registryBench } from './registry-bench.ts'
import { requestBench } from './request-bench.ts'
import { stopAll } from './support.ts'

process.once('exit', stopAll)
const print = (line: string) => console.log(line)
print(`Node ${process.version}, ${cpus().length} cores. Ratios of one run; the machine's noise stands beside them.`)
coldStartBench(print)
await requestBench(print)
await commentsBench(print)
await registryBench(print)
await accountBench(print)
process.exit(0)
