// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The program with an extension: the jars that a user puts into {@code lib/ext}. */
final class Extensions {

    private static final Path HOME = Path.of(System.getProperty("smqtt.home", ".."));

    private Extensions() {}

    /**
     * The command of a broker with an extension.
     *
     * @param module the module of the extension
     * @param directory the working directory, where data is kept too
     * @param configuration the file
     * @param libraries a class of each library that the extension needs
     */
    static ProcessBuilder command(String module, Path directory, Path configuration, Class<?>... libraries)
            throws IOException {
        List<String> paths = new ArrayList<>(
                List.of(System.getProperty("smqtt.jar"), jar(module).toString()));
        Stream.of(libraries).map(library -> jarOf(library).toString()).forEach(paths::add);
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea:io.smqtt...",
                "--add-opens",
                "java.base/java.nio=ALL-UNNAMED",
                "-cp",
                String.join(":", paths),
                "io.smqtt.bootstrap.SmqttMain"));
        command.addAll(List.of("start", "--config", configuration.toString()));
        command.addAll(List.of("--data", directory.resolve("data").toString()));
        return new ProcessBuilder(command).directory(directory.toFile());
    }

    private static Path jar(String module) throws IOException {
        try (Stream<Path> files = Files.list(HOME.resolve(module).resolve("target"))) {
            return files.filter(file -> file.getFileName().toString().matches(module + "-[0-9.]+(-SNAPSHOT)?\\.jar"))
                    .findFirst()
                    .orElseThrow()
                    .toAbsolutePath()
                    .normalize();
        }
    }

    private static Path jarOf(Class<?> library) {
        try {
            return Path.of(
                    library.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
