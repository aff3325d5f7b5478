// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example of {@code docs/embedding.md} with a store: what stands between the markers here stands there, and works. */
@Timeout(60)
class EmbeddedStoreExampleTest {

    private static final Path SOURCE = Path.of("src/test/java/io/smqtt/persistence/EmbeddedStoreExampleTest.java");
    private static final Path DOCUMENT = Path.of("../docs/embedding.md");
    private static final Pattern SNIPPET = Pattern.compile("// snippet store\\n(.*?)// end", Pattern.DOTALL);

    @TempDir
    Path directory;

    private Broker startBroker() {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        // snippet store
        BrokerStore store = RocksBrokerStore.open(directory.resolve("store"), StoreSettings.defaults());
        Broker broker = Broker.builder().config(config).store(store).start().block();
        // end
        return Objects.requireNonNull(broker);
    }

    @Test
    void whatWasRetainedIsThereAgain() {
        Broker first = startBroker();
        first.publish(ApplicationMessage.builder("a")
                        .payload("kept")
                        .qos(QoS.AT_LEAST_ONCE)
                        .retain(true)
                        .build())
                .block();
        first.close(Duration.ofSeconds(1)).block();

        Broker second = startBroker();
        ApplicationMessage found = second.subscribe("a").blockFirst();
        second.close(Duration.ofSeconds(1)).block();

        assertThat(Objects.requireNonNull(found).payload().asString()).isEqualTo("kept");
    }

    @Test
    void theDocumentShowsWhatIsTestedHere() throws Exception {
        Matcher snippet = SNIPPET.matcher(Files.readString(SOURCE));
        assertThat(snippet.find()).isTrue();
        assertThat(Files.readString(DOCUMENT))
                .contains("```java\n" + snippet.group(1).stripIndent().strip() + "\n```");
    }
}
