// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;

/** The classes of this module, once more, as they are where some libraries are not. */
final class Without extends ClassLoader {

    private final List<String> missing;

    /** Hides classes whose names begin with one of these. */
    Without(String... missing) {
        super(Without.class.getClassLoader());
        this.missing = List.of(missing);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (missing.stream().anyMatch(name::startsWith)) {
            throw new ClassNotFoundException(name);
        }
        if (!name.startsWith("io.smqtt.metric.")) {
            return super.loadClass(name, resolve);
        }
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? define(name) : loaded;
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            byte[] bytes = Objects.requireNonNull(in, name).readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
