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
        List<String> command = new ArrayList<>(BrokerProcess.program());
        command.add("start");
        command.addAll(List.of(options));
        command.addAll(List.of("--data", directory.resolve("data").toString()));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        Path extensions = HOME.resolve(module).resolve("target/ext").toAbsolutePath();
        builder.environment().put("JAVA_TOOL_OPTIONS", "-Dsmqtt.ext=" + extensions.normalize());
        return builder;
    }
}
