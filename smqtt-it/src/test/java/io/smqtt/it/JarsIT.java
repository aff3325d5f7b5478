// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The jars as they were built: their names on a module path, their versions, and the licence in each. */
class JarsIT {

    private static final Path HOME = Path.of(System.getProperty("smqtt.home"));
    private static final Map<String, String> MODULES = new TreeMap<>(Map.ofEntries(
            Map.entry("smqtt-core", "io.smqtt"),
            Map.entry("smqtt-metric", "io.smqtt.metric"),
            Map.entry("smqtt-admin", "io.smqtt.admin"),
            Map.entry("smqtt-access", "io.smqtt.access"),
            Map.entry("smqtt-access-ldap", "io.smqtt.access.ldap"),
            Map.entry("smqtt-access-sql", "io.smqtt.access.sql"),
            Map.entry("smqtt-access-redis", "io.smqtt.access.redis"),
            Map.entry("smqtt-bridge", "io.smqtt.bridge"),
            Map.entry("smqtt-rules", "io.smqtt.rules"),
            Map.entry("smqtt-sink-jdbc", "io.smqtt.sink.jdbc"),
            Map.entry("smqtt-sink-kafka", "io.smqtt.sink.kafka"),
            Map.entry("smqtt-sink-rabbitmq", "io.smqtt.sink.rabbitmq"),
            Map.entry("smqtt-sink-redis", "io.smqtt.sink.redis"),
            Map.entry("smqtt-cluster", "io.smqtt.cluster"),
            Map.entry("smqtt-persistence", "io.smqtt.persistence"),
            Map.entry("smqtt-replication", "io.smqtt.replication"),
            Map.entry("smqtt-test", "io.smqtt.test"),
            Map.entry("smqtt-spring-boot-starter", "io.smqtt.spring"),
            Map.entry("smqtt-migrate", "io.smqtt.migrate"),
            Map.entry("smqtt-bench", "io.smqtt.bench"),
            Map.entry("smqtt-benchmark", "io.smqtt.benchmark"),
            Map.entry("smqtt-bootstrap", "io.smqtt.bootstrap")));

    static Stream<String> modules() {
        return MODULES.keySet().stream();
    }

    /** The jars of the modules, and the two that carry everything. */
    static Stream<Path> jars() throws IOException {
        return Stream.concat(
                MODULES.keySet().stream().map(JarsIT::jar),
                Stream.of(
                        HOME.resolve("smqtt-bootstrap/target/smqtt.jar"),
                        HOME.resolve("smqtt-benchmark/target/benchmarks.jar")));
    }

    @Test
    void everyModuleOfTheBuildIsLookedAt() throws IOException {
        Set<String> published = new TreeSet<>();
        Files.readString(HOME.resolve("pom.xml"))
                .lines()
                .map(String::strip)
                .filter(line -> line.startsWith("<module>smqtt-"))
                .map(line -> line.substring("<module>".length(), line.indexOf("</")))
                .filter(module -> !module.equals("smqtt-bom")) // no jar
                .filter(module -> !Set.of("smqtt-it", "smqtt-protocol-test").contains(module)) // only tests
                .forEach(published::add);

        assertThat(published).isEqualTo(MODULES.keySet());
    }

    @ParameterizedTest
    @MethodSource("jars")
    void eachJarHasVersionAndLicence(Path path) throws IOException {
        try (JarFile jar = new JarFile(path.toFile())) {
            Attributes manifest = jar.getManifest().getMainAttributes();

            assertThat(manifest.getValue("Automatic-Module-Name")).startsWith("io.smqtt");
            assertThat(manifest.getValue("Implementation-Title")).startsWith("smqtt");
            assertThat(manifest.getValue("Implementation-Version")).isEqualTo(version());
            assertThat(manifest.getValue("Bundle-License")).isEqualTo("Apache-2.0");
            assertThat(new String(
                            jar.getInputStream(jar.getEntry("META-INF/LICENSE")).readAllBytes(),
                            StandardCharsets.UTF_8))
                    .isEqualTo(Files.readString(HOME.resolve("LICENSE")));
        }
    }

    @Test
    void theProgramOpensWhatDirectMemoryWithoutZerosNeeds() throws IOException {
        try (JarFile jar =
                new JarFile(HOME.resolve("smqtt-bootstrap/target/smqtt.jar").toFile())) {
            assertThat(jar.getManifest().getMainAttributes().getValue("Add-Opens"))
                    .isEqualTo("java.base/java.nio");
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void eachModuleHasItsNameAndPackagesBelowIt(String module) {
        String name = MODULES.get(module);

        ModuleDescriptor descriptor =
                ModuleFinder.of(jar(module)).findAll().iterator().next().descriptor();

        assertThat(descriptor.name()).isEqualTo(name);
        assertThat(descriptor.packages()).allMatch(owned -> owned.equals(name) || owned.startsWith(name + "."));
    }

    @Test
    void noPackageIsInTwoModules() {
        Map<String, Long> owners = MODULES.keySet().stream()
                .flatMap(module ->
                        ModuleFinder.of(jar(module)).findAll().iterator().next().descriptor().packages().stream())
                .collect(Collectors.groupingBy(name -> name, Collectors.counting()));

        assertThat(owners)
                .isNotEmpty()
                .allSatisfy((name, count) -> assertThat(count).as(name).isEqualTo(1));
    }

    private static Path jar(String module) {
        return HOME.resolve(module).resolve("target").resolve(module + "-" + version() + ".jar");
    }

    private static String version() {
        try {
            String pom = Files.readString(HOME.resolve("pom.xml"));
            int begin = pom.indexOf("<revision>") + "<revision>".length();
            return pom.substring(begin, pom.indexOf("</revision>", begin));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
