// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The program with an extension as it is delivered. */
final class Extensions {

    private static final Path HOME = Path.of(System.getProperty("smqtt.home", ".."));

    private Extensions() {}

    /**
     * The command of a broker with an extension.
     *
     * @param module the module of the extension
     * @param directory the working directory, where data is kept too
     * @param configuration the file
     */
    static ProcessBuilder command(String module, Path directory, Path configuration) {
        return command(module, directory, "--config", configuration.toString());
    }

    /**
     * The command of a broker with an extension.
     *
     * @param module the module of the extension
     * @param directory the working directory, where data is kept too
     * @param options what tells the broker its configuration
     */
    static ProcessBuilder command(String module, Path directory, String... options) {
        List<String> words = new ArrayList<>(List.of("start"));
        words.addAll(List.of(options));
        words.addAll(List.of("--data", directory.resolve("data").toString()));
        return run(module, directory, words.toArray(String[]::new));
    }

    /** The command of a broker, without management and in memory, that has the settings of another one. */
    static ProcessBuilder migrated(String module, Path directory, String... options) {
        List<String> words = new ArrayList<>(List.of(options));
        words.addAll(List.of("--set", "management.enabled=false", "--set", "storage.kind=memory"));
        return command(module, directory, words.toArray(String[]::new));
    }

    /** Any command of the program. */
    static ProcessBuilder run(String module, Path directory, String... words) {
        List<String> command = new ArrayList<>(BrokerProcess.program());
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        Path extensions = HOME.resolve(module).resolve("target/ext").toAbsolutePath();
        builder.environment().put("JAVA_TOOL_OPTIONS", "-Dsmqtt.ext=" + extensions.normalize());
        return builder;
    }
}
