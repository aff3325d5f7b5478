// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

/** What the process tells its parent. */
final class ExitCode {

    static final int OK = 0;
    static final int UNEXPECTED = 1;
    static final int USAGE = 2;
    static final int BAD_CONFIGURATION = 3;
    static final int PORT_IN_USE = 4;
    static final int BAD_DATA = 5;

    private ExitCode() {}
}
