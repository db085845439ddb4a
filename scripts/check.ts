// Types, lint and format at once: each keeps one processor busy.

import { spawn } from 'node:child_process'

/** The longest first. */
const checks = ['check:lint', 'check:types', 'check:format'] as const

/** Runs a script of package.json; what it prints comes in one piece. */
function run(script: string): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  }
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => {
      console.log(`${code === 0 ? '✔' : '✖'} ${script}`)
      process.stdout.write(printed)
      done(code === 0)
    })
  })
}

const passed = await Promise.all(checks.map(run))
process.exitCode = passed.every(Boolean) ? 0 : 1
