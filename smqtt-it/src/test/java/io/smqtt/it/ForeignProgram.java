// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/**
 * A program of other people that a test needs. A test whose program is missing fails, and names it; after {@code bin/test
 * --without-foreign}, which sets the variable {@value #WITHOUT}, it is skipped instead.
 */
final class ForeignProgram {

    private static final String WITHOUT = "SMQTT_TEST_WITHOUT_FOREIGN";

    private ForeignProgram() {}

    /** The path of a program, also where the search path lacks the folders of servers. */
    static String path(String name) {
        return Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin", "/sbin"))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst()
                .map(Path::toString)
                .orElseThrow(() -> missing(name));
    }

    /** What ends a test that needs the given program, or the given file of one. */
    static RuntimeException missing(String what) {
        if (System.getenv(WITHOUT) != null) {
            return new TestAbortedException(what + " is missing");
        }
        throw new AssertionError(what + " is missing; `bin/test` installs it");
    }
}
