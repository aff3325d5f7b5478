// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import picocli.CommandLine.Option;

/** {@code --limit} of commands that print a list. */
final class LimitOption {

    /** Maximum number of entries; 0 for all. */
    @Option(
            names = "--limit",
            paramLabel = "COUNT",
            description = "Ends after this number of entries. The default is 0: all.")
    int limit;
}
