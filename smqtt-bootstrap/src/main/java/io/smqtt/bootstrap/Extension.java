// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.ModuleProvider;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SourceFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An extension of the program.
 *
 * @param name its folder below {@code lib/ext}, or the name of a jar that is in {@code lib/ext} itself
 * @param jars its jars, in alphabetical order
 * @param loader loads its classes: a loader of its own for a folder, the program's for a jar
 */
record Extension(String name, List<Path> jars, ClassLoader loader) {

    private static final String PREFIX = "META-INF/services/io.smqtt.";

    /** Copies the list. */
    Extension {
        jars = List.copyOf(jars);
    }

    /**
     * Lists the jars of a folder.
     *
     * @return in alphabetical order; none if it is no folder that can be read
     */
    static List<Path> jars(Path folder) {
        return entries(folder, path -> path.getFileName().toString().endsWith(".jar") && Files.isRegularFile(path));
    }

    /**
     * Lists the entries of a folder.
     *
     * @return in alphabetical order; none if it is no folder that can be read
     */
    static List<Path> entries(Path folder, Predicate<Path> wanted) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(wanted).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** {@return the version in the manifest of the jar that the broker uses, else of the first; a hyphen if there is none} */
    String version() {
        String version = "-";
        for (Path path : jars) {
            try (JarFile jar = new JarFile(path.toFile())) {
                boolean main = jar.stream().anyMatch(entry -> entry.getName().startsWith(PREFIX));
                if (main || version.equals("-")) {
                    version = version(jar.getManifest());
                }
                if (main) {
                    return version;
                }
            } catch (IOException e) {
                // named by problems()
            }
        }
        return version;
    }

    private static String version(@Nullable Manifest manifest) {
        if (manifest != null) {
            for (String name : List.of("Implementation-Version", "Bundle-Version")) {
                String value = manifest.getMainAttributes().getValue(new Attributes.Name(name));
                if (value != null) {
                    return value;
                }
            }
        }
        return "-";
    }

    /** {@return its jars that cannot be read, with the reason} */
    List<String> problems() {
        List<String> problems = new ArrayList<>();
        for (Path path : jars) {
            try (JarFile jar = new JarFile(path.toFile())) {
                jar.getManifest();
            } catch (IOException e) {
                problems.add(path + " is no jar that can be read: " + e.getMessage());
            }
        }
        return problems;
    }

    /**
     * Names what the broker finds in it. Loads its classes.
     *
     * @return such as {@code access backend sql}; empty if the broker finds nothing, for example because a library uses the jar
     */
    List<String> provides() {
        List<String> names = new ArrayList<>();
        names.addAll(services(AccessBackendFactory.class, factory -> "access backend " + factory.type()));
        names.addAll(services(SinkFactory.class, factory -> "sink " + factory.type()));
        names.addAll(services(SourceFactory.class, factory -> "source " + factory.type()));
        names.addAll(services(ModuleProvider.class, module -> "module " + module.name()));
        return names;
    }

    private <T> List<String> services(Class<T> type, Function<T, String> name) {
        if (!(loader instanceof ExtensionClassLoader)) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        try {
            ServiceLoader.load(type, loader).stream()
                    .filter(provider -> provider.type().getClassLoader() == loader)
                    .forEach(provider -> names.add(name.apply(provider.get())));
        } catch (ServiceConfigurationError | LinkageError e) {
            names.add("cannot be loaded: " + e.getMessage());
        }
        return names;
    }
}
