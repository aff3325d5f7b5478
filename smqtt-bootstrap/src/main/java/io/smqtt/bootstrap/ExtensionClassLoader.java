// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Enumeration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loads the classes of one extension. Classes of the broker, and those of libraries that its interfaces use, are the program's; of all
 * others, the ones in the folder of the extension come before those of the program, so that it can have versions of its own.
 */
@AnyThread
final class ExtensionClassLoader extends URLClassLoader {

    /** Packages of which the program's classes come first; with all below them. */
    private static final List<String> SHARED = List.of(
            "io.smqtt.",
            "io.netty.",
            "reactor.",
            "org.reactivestreams.",
            "org.slf4j.",
            "org.jspecify.",
            "com.fasterxml.jackson.",
            "com.google.re2j.",
            "io.micrometer.");

    static {
        registerAsParallelCapable();
    }

    /**
     * Creates a loader.
     *
     * @param name the name of the extension
     * @param jars its jars
     * @param program the loader of the program
     */
    ExtensionClassLoader(String name, URL[] jars, ClassLoader program) {
        super("extension-" + name, jars, program);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null && !isShared(name)) {
                loaded = ownOrNull(name);
            }
            if (loaded == null) {
                return super.loadClass(name, resolve);
            }
            if (resolve) {
                resolveClass(loaded);
            }
            return loaded;
        }
    }

    private static boolean isShared(String name) {
        return name.startsWith("java.") || SHARED.stream().anyMatch(name::startsWith);
    }

    /** Classes of Java itself before those of the folder. */
    private @Nullable Class<?> ownOrNull(String name) {
        try {
            return ClassLoader.getPlatformClassLoader().loadClass(name);
        } catch (ClassNotFoundException e) {
            // as for most
        }
        try {
            return findClass(name);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    @Override
    public @Nullable URL getResource(String name) {
        URL own = findResource(name);
        return own == null ? super.getResource(name) : own;
    }

    /** The services in the folder of the extension, without those of the program. */
    Enumeration<URL> ownResources(String name) throws IOException {
        return findResources(name);
    }
}
