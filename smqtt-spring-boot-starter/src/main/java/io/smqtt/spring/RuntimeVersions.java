// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.netty.util.Version;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * The versions of Netty and Reactor that are there, against those that the broker was built with. Spring Boot chooses them,
 * and older ones fail somewhere in the middle with a missing method.
 */
final class RuntimeVersions {

    private RuntimeVersions() {}

    /**
     * Looks at what is on the class path.
     *
     * @throws WrongVersionException if something is too old
     */
    static void check() {
        Version netty = Version.identify(RuntimeVersions.class.getClassLoader()).get("netty-common");
        check(
                netty == null ? null : netty.artifactVersion(),
                of("reactor.core.publisher.Mono"),
                of("reactor.netty.tcp.TcpServer"));
    }

    static void check(@Nullable String netty, @Nullable String reactor, @Nullable String reactorNetty) {
        Properties wanted = wanted();
        List<String> found = new ArrayList<>();
        boolean nettyIsOld = isOlder("Netty", netty, wanted.getProperty("netty.least"), found);
        boolean coreIsOld = isOlder("Reactor", reactor, wanted.getProperty("reactor.least"), found);
        boolean serverIsOld = isOlder("Reactor Netty", reactorNetty, wanted.getProperty("reactor-netty.least"), found);
        if (found.isEmpty()) {
            return;
        }
        List<String> overrides = new ArrayList<>();
        if (nettyIsOld) {
            overrides.add("netty.version=" + wanted.getProperty("netty"));
        }
        if (coreIsOld || serverIsOld) {
            overrides.add("reactor-bom.version=" + wanted.getProperty("reactor-bom"));
        }
        throw new WrongVersionException(found, overrides);
    }

    private static boolean isOlder(String what, @Nullable String version, String least, List<String> found) {
        if (version == null || compare(version, least) >= 0) { // of an unknown one nothing can be said
            return false;
        }
        found.add(what + " " + version + " is on the class path, the broker needs " + least + " or later");
        return true;
    }

    /** Compares the numbers of two versions: 4.1.135.Final is before 4.2. */
    private static int compare(String version, String least) {
        String[] have = version.split("[.-]");
        String[] need = least.split("[.-]");
        for (int i = 0; i < need.length; i++) {
            int difference = Integer.compare(number(have, i), number(need, i));
            if (difference != 0) {
                return difference;
            }
        }
        return 0;
    }

    private static int number(String[] parts, int index) {
        return index < parts.length && parts[index].matches("[0-9]{1,9}") ? Integer.parseInt(parts[index]) : 0;
    }

    private static @Nullable String of(String className) {
        try {
            Package of = Class.forName(className, false, RuntimeVersions.class.getClassLoader())
                    .getPackage();
            return of == null ? null : of.getImplementationVersion();
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    private static Properties wanted() {
        Properties properties = new Properties();
        try (InputStream stream = RuntimeVersions.class.getResourceAsStream("versions.properties")) {
            properties.load(stream);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties;
    }
}
