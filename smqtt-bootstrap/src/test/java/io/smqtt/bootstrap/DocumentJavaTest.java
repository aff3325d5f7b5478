// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every block of Java in the documents compiles: here, or in the tests and samples that it is compared with. */
class DocumentJavaTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import .*\n");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");

    /** Documents whose examples stand word by word in code that is run, and the test that compares them. */
    private static final Map<String, String> COMPARED = Map.of(
            "docs/embedding.md", "smqtt-core/src/test/java/io/smqtt/EmbeddingExamplesTest.java",
            "docs/testing.md", "smqtt-test/src/test/java/io/smqtt/test/kit/TestingExamplesTest.java",
            "docs/spring.md", "smqtt-spring-boot-starter/src/test/java/io/smqtt/spring/SpringDocumentTest.java");

    private static final String IMPORTS = """
            import io.smqtt.*;
            import io.smqtt.bootstrap.Bootstrap;
            import io.smqtt.bootstrap.BootstrapConfig;
            import io.smqtt.config.*;
            import io.smqtt.message.*;
            import io.smqtt.spi.*;
            import java.time.Duration;
            import java.util.*;
            """;

    @TempDir
    Path directory;

    private static Map<String, List<String>> blocks() throws IOException {
        Map<String, List<String>> blocks = new LinkedHashMap<>();
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
                Stream<Path> deploy = Files.walk(ROOT.resolve("deploy"))) {
            for (Path document : Stream.of(top, docs, deploy)
                    .flatMap(files -> files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList()) {
                Matcher block = BLOCK.matcher(Files.readString(document));
                while (block.find()) {
                    blocks.computeIfAbsent(ROOT.relativize(document).toString(), key -> new ArrayList<>())
                            .add(block.group(1));
                }
            }
        }
        return blocks;
    }

    @Test
    void everyBlockThatIsNotComparedWithCodeCompilesAsTheBodyOfAMethod() throws IOException {
        Map<String, List<String>> blocks = blocks();
        blocks.keySet().removeAll(COMPARED.keySet());
        List<JavaFileObject> sources = new ArrayList<>();
        blocks.forEach((document, texts) -> texts.forEach(text -> sources.add(source(sources.size(), text))));

        assertThat(blocks.keySet()).contains("README.md", "docs/getting-started.md", "docs/migration.md");
        assertThat(problems(sources)).isEmpty();
    }

    @Test
    void whatDoesNotCompileIsFound() {
        assertThat(problems(List.of(source(0, "Broker broker = Broker.builder().begin();\n"))))
                .contains("begin");
    }

    @Test
    void theOtherDocumentsAreComparedWithCode() throws IOException {
        assertThat(blocks().keySet()).containsAll(COMPARED.keySet());
        COMPARED.forEach((document, test) ->
                assertThat(ROOT.resolve(test)).content().contains(document.substring(document.indexOf('/') + 1)));
    }

    /** Imports of a block come before the class, the rest is the body of its method. */
    private static JavaFileObject source(int number, String block) {
        String name = "Block" + number;
        Matcher imports = IMPORT.matcher(block);
        String own = imports.results().map(MatchResult::group).collect(Collectors.joining());
        String text = IMPORTS + own + "class " + name + " {\n    void run() throws Exception {\n"
                + imports.replaceAll("") + "    }\n}\n";
        return new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }

    private String problems(List<JavaFileObject> sources) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        List<String> options = List.of(
                "-proc:none",
                "-nowarn",
                "-d",
                directory.toString(),
                "-classpath",
                System.getProperty("java.class.path"));
        boolean good =
                compiler.getTask(said, null, null, options, null, sources).call();
        return good ? "" : said.toString();
    }
}
