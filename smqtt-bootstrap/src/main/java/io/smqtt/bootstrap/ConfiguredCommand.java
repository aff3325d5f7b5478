// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;

/** A command that reads the configuration and ends. */
abstract class ConfiguredCommand implements Callable<Integer> {

    @Mixin
    ConfigOptions options = new ConfigOptions();

    private final Surroundings surroundings;

    ConfiguredCommand(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    final Surroundings surroundings() {
        return surroundings;
    }

    /** What the flags, the environment and the file say. */
    final EffectiveConfig config() {
        return options.load(surroundings);
    }

    /** The data directory that they name. */
    final DataDirectory dataDirectory() {
        return DataDirectory.of(config().broker().storage());
    }
}
