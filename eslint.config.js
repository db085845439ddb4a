import js from '@eslint/js'
import tseslint from 'typescript-eslint'

/** The layers of src/: none imports one of its own rank or above. */
const order = [
  ['text'],
  ['config'],
  ['files', 'resources', 'demo'],
  // The explorer runs in browsers; it takes types from resources, and nothing else.
  ['store', 'explorer'],
  ['auth'],
  ['http', 'import'],
  ['server'],
  ['cli'],
]
const ranks = Object.fromEntries(
  order.flatMap((peers, rank) => peers.map((layer) => [layer, rank])),
)
const layers = Object.keys(ranks)

const layerRules = layers
  .filter((layer) => layer !== 'cli')
  .map((layer) => ({
    files: [`src/${layer}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: layers
                .filter((other) => other !== layer && ranks[other] >= ranks[layer])
                .map((other) => `**/${other}/**`),
              message:
                'cli → server → { http, import } → auth → store → resources → config → text; see ARCHITECTURE.md',
            },
          ],
        },
      ],
    },
  }))

export default tseslint.config(
  { ignores: ['node_modules/', 'eslint.config.js', 'coverage/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'max-len': ['error', { code: 100, ignoreUrls: true, ignoreRegExpLiterals: true }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
      ],
    },
  },
  ...layerRules,
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only main.ts reads the environment.' },
        { object: 'process', property: 'exit', message: 'Only main.ts ends the process.' },
        { object: 'process', property: 'stdout', message: 'Print through cli/output.ts.' },
        { object: 'process', property: 'stderr', message: 'Print through cli/output.ts.' },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'torture/**/*.ts', 'fuzz/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'max-len': ['error', { code: 100, ignoreStrings: true, ignoreTemplateLiterals: true }],
      // node:test's functions return promises that the runner awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'describe', 'it', 'suite'], package: 'node:test' },
          ],
        },
      ],
    },
  },
)
