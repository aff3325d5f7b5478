// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.thread.AnyThread;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

/**
 * Finds services in the extensions of the program: {@code lib/ext/<name>/*.jar}. Each folder has an {@link ExtensionClassLoader}; this
 * loader shows the program what all of them offer as services, and nothing else of them. Extensions do not see each other. Jars in
 * {@code lib/ext} itself are on the class path of the program, by {@code bin/smqtt}.
 */
@AnyThread
final class Extensions extends ClassLoader {

    private static final String SERVICES = "META-INF/services/io.smqtt.";

    static {
        registerAsParallelCapable();
    }

    private final List<Extension> folders;

    private Extensions(List<Extension> folders, ClassLoader program) {
        super("extensions", program);
        this.folders = folders;
    }

    /**
     * The loader that finds services of the program and its extensions.
     *
     * @return the context loader of this thread if that is one, else the loader of the program
     */
    static ClassLoader loader() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context instanceof Extensions ? context : Extensions.class.getClassLoader();
    }

    /** Makes the extensions of this process available to this thread and those that it starts. Costs nothing if there are none. */
    static void install() {
        List<Extension> folders = folders(folder());
        if (!folders.isEmpty()) {
            Thread.currentThread().setContextClassLoader(of(folders));
        }
    }

    /** Shows the services of folders. */
    static Extensions of(List<Extension> folders) {
        return new Extensions(List.copyOf(folders), Extensions.class.getClassLoader());
    }

    /** {@return the folder of the extensions of this process: the system property {@code smqtt.ext}, else the one beside the program} */
    static Path folder() {
        String given = System.getProperty("smqtt.ext");
        return given == null ? folder(System.getProperty("java.class.path", "")) : Path.of(given);
    }

    /**
     * The folder of the extensions beside the program.
     *
     * @param classPath that of the process, which begins with the jar of the program
     * @return {@code ext} beside that jar; may not exist
     */
    static Path folder(String classPath) {
        int end = classPath.indexOf(File.pathSeparatorChar);
        return Path.of(end < 0 ? classPath : classPath.substring(0, end)).resolveSibling("ext");
    }

    /**
     * Lists the extensions that have a folder.
     *
     * @param ext the folder of the extensions
     * @return in alphabetical order; a folder without jars is none
     */
    static List<Extension> folders(Path ext) {
        List<Extension> found = new ArrayList<>();
        for (Path folder : Extension.entries(ext, Files::isDirectory)) {
            List<Path> jars = Extension.jars(folder);
            if (!jars.isEmpty()) {
                String name = folder.getFileName().toString();
                URL[] urls = jars.stream().map(Extensions::url).toArray(URL[]::new);
                found.add(new Extension(
                        name, jars, new ExtensionClassLoader(name, urls, Extensions.class.getClassLoader())));
            }
        }
        return found;
    }

    private static URL url(Path jar) {
        try {
            return jar.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        for (Extension extension : folders) {
            try {
                return extension.loader().loadClass(name);
            } catch (ClassNotFoundException e) {
                // another one may have it
            }
        }
        throw new ClassNotFoundException(name);
    }

    @Override
    protected Enumeration<URL> findResources(String name) throws IOException {
        List<URL> found = new ArrayList<>();
        if (name.startsWith(SERVICES)) {
            for (Extension extension : folders) {
                if (extension.loader() instanceof ExtensionClassLoader own) {
                    found.addAll(Collections.list(own.ownResources(name)));
                }
            }
        }
        return Collections.enumeration(found);
    }
}
