// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import picocli.CommandLine.Option;

/** Number and numbering of clients. */
final class CountOptions {

    @Option(
            names = {"-c", "--count"},
            description = "Number of clients. Default: ${DEFAULT-VALUE}.")
    int clients = 200;

    @Option(
            names = {"-n", "--startnumber"},
            description = "The number of the first client. Default: ${DEFAULT-VALUE}.")
    int startNumber;

    int number(int index) {
        return startNumber + index;
    }

    /** @throws WrongUsage if numbers are out of range */
    void check() {
        ConnectionOptions.check(
                startNumber >= 0 && (long) startNumber + clients <= Stamp.MAX_PUBLISHERS,
                "-n " + startNumber + ": clients are numbered from 0 to " + (Stamp.MAX_PUBLISHERS - 1));
    }
}
