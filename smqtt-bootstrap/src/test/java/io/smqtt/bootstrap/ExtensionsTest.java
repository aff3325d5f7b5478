// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.BrokerComposition;
import io.smqtt.access.backend.AccessBackendFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class ExtensionsTest {

    private static final String SERVICE = "META-INF/services/io.smqtt.access.backend.AccessBackendFactory";

    @TempDir
    Path ext;

    @TempDir
    Path work;

    @Test
    void eachFolderIsFoundWithLibrariesOfItsOwn() throws IOException {
        extension("one", "1.0");
        extension("two", "2.0");

        Extensions loader = Extensions.of(Extensions.folders(ext));

        assertThat(ServiceLoader.load(AccessBackendFactory.class, loader))
                .extracting(AccessBackendFactory::type)
                .contains("one-1.0", "two-2.0", "http", "jwt")
                .doesNotHaveDuplicates();
        assertThat(BrokerComposition.modules(loader)).contains("smqtt-access", "smqtt-cluster");
    }

    @Test
    void classesOfTheBrokerAndOfItsInterfacesAreTheProgramsAlsoIfAnExtensionHasCopies() throws Exception {
        jar(ext.resolve("one/copy.jar"), Map.of("reactor/core/publisher/Mono.class", new byte[] {1}), null);
        ClassLoader loader = Extensions.folders(ext).get(0).loader();

        assertThat(loader.loadClass("reactor.core.publisher.Mono")).isSameAs(Mono.class);
        assertThat(loader.loadClass("java.sql.Driver")).isSameAs(java.sql.Driver.class);
        assertThat(loader.loadClass("picocli.CommandLine")).isSameAs(picocli.CommandLine.class);
        assertThatThrownBy(() -> loader.loadClass("example.one.Library")).isInstanceOf(ClassNotFoundException.class);
    }

    @Test
    void extensionsDoNotSeeEachOther() throws IOException {
        extension("one", "1.0");
        extension("two", "2.0");
        ClassLoader two = Extensions.folders(ext).get(1).loader();

        assertThatThrownBy(() -> two.loadClass("example.one.Factory")).isInstanceOf(ClassNotFoundException.class);
    }

    @Test
    void theListHasVersionContentAndJars() throws IOException {
        extension("one", "1.0");
        jar(ext.resolve("flat.jar"), Map.of("x", new byte[0]), "3.1");
        Files.createDirectories(ext.resolve("empty"));

        assertThat(list(0))
                .containsExactly(
                        "EXTENSION  VERSION  PROVIDES                JARS",
                        "one        1.0      access backend one-1.0  library.jar, one.jar",
                        "flat.jar   3.1      class path              flat.jar");
    }

    @Test
    void damagedJarsAndClassesForAnotherVersionAreNamed() throws IOException {
        Files.createDirectories(ext.resolve("bad"));
        Files.writeString(ext.resolve("bad/bad.jar"), "no jar");
        jar(ext.resolve("old/old.jar"), Map.of(SERVICE, "example.Missing".getBytes(StandardCharsets.UTF_8)), null);

        assertThat(list(1))
                .anyMatch(line -> line.matches("bad +- +- +bad.jar"))
                .anyMatch(line -> line.matches("old +- +cannot be loaded: .*example.Missing.* old.jar"))
                .anyMatch(line -> line.matches("smqtt: .*bad.jar is no jar that can be read: .*"));
    }

    @Test
    void withoutAFolderNothingIsListedAndNothingLoaded() throws IOException {
        assertThat(Extensions.folders(ext.resolve("none"))).isEmpty();
        assertThat(list(0)).isEmpty();
        assertThat(Extensions.folder("/opt/smqtt/lib/smqtt.jar:/opt/smqtt/lib/ext/a.jar"))
                .isEqualTo(Path.of("/opt/smqtt/lib/ext"));
        assertThat(Extensions.folder("smqtt.jar")).isEqualTo(Path.of("ext"));
    }

    private List<String> list(int code) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream text = new PrintStream(out, true, StandardCharsets.UTF_8);
        ProgramContext real = ProgramContext.ofProcess();
        ProgramContext program = new ProgramContext(
                real.in(), text, text, Map.of(), work, real.brokers(), real.signals(), real.nanoTime(), real.modules());

        assertThat(new ExtCommand.ListAll(program).list(ext)).isEqualTo(code);

        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** A backend whose type has the version of its library, a class that every extension has. */
    private void extension(String name, String version) throws IOException {
        Path sources = Files.createDirectories(work.resolve(name));
        Path library = Files.writeString(sources.resolve("Library.java"), """
                package example;
                public class Library { public static String version() { return "%s"; } }
                """.formatted(version));
        Path factory = Files.writeString(sources.resolve("Factory.java"), """
                package example.%1$s;
                import io.smqtt.access.backend.*;
                public class Factory implements AccessBackendFactory {
                    public String type() { return "%1$s-" + example.Library.version(); }
                    public java.util.List<BackendSetting> settings() { return java.util.List.of(); }
                    public AccessBackend open(BackendSettings settings, BackendContext context) { return null; }
                }
                """.formatted(name));
        int status = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-d",
                        sources.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        library.toString(),
                        factory.toString());
        assertThat(status).isZero();
        jar(
                ext.resolve(name + "/library.jar"),
                Map.of("example/Library.class", Files.readAllBytes(sources.resolve("example/Library.class"))),
                null);
        jar(
                ext.resolve(name + "/" + name + ".jar"),
                Map.of(
                        "example/" + name + "/Factory.class",
                        Files.readAllBytes(sources.resolve("example/" + name + "/Factory.class")),
                        SERVICE,
                        ("example." + name + ".Factory").getBytes(StandardCharsets.UTF_8)),
                version);
    }

    private static void jar(Path path, Map<String, byte[]> entries, String version) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        if (version != null) {
            manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, version);
        }
        Files.createDirectories(path.getParent());
        try (OutputStream file = Files.newOutputStream(path);
                JarOutputStream jar = new JarOutputStream(file, manifest)) {
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                jar.putNextEntry(new JarEntry(entry.getKey()));
                jar.write(entry.getValue());
                jar.closeEntry();
            }
        }
    }
}
