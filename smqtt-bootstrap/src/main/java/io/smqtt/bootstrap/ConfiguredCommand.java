// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;

/** A command that reads the configuration and ends. */
abstract class ConfiguredCommand implements Callable<Integer> {

    @Mixin
    ConfigOptions options = new ConfigOptions();

    private final ProgramContext program;

    ConfiguredCommand(ProgramContext program) {
        this.program = program;
    }

    final ProgramContext program() {
        return program;
    }

    /** What the flags, the environment and the file say. */
    final EffectiveConfig config() {
        return options.load(program);
    }

    /** The data directory that they name. */
    final DataDirectory dataDirectory() {
        return DataDirectory.of(config().broker().storage());
    }
}
