// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vite'

// `npm run dev` passes the API to a broker: SMQTT_MANAGEMENT=http://127.0.0.1:18083
declare const process: { env: Record<string, string | undefined> }
const broker = process.env.SMQTT_MANAGEMENT ?? 'http://127.0.0.1:18083'

export default defineConfig({
  base: './', // the page may be below any path
  build: {
    outDir: '../src/main/resources/io/smqtt/admin/page/dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the content security policy allows no data: addresses
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 500,
    license: { fileName: 'licenses.md' }, // of the libraries in the files
  },
  server: { proxy: { '/api': broker } },
})
