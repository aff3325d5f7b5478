// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ByteArrayResource;

/** The access backends of the module {@code smqtt-access}, with the example of {@code docs/spring.md}. */
@Timeout(120)
class AccessBackendsTest {

    private static final String SECRET = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path directory;

    private String example() throws IOException {
        Matcher block = Pattern.compile("(?ms)^```yaml\n(smqtt:\n  access:.*?)^```$")
                .matcher(Files.readString(Path.of("../docs/spring.md")));
        assertThat(block.find()).isTrue();
        Path secret = Files.writeString(directory.resolve("secret"), SECRET);
        return block.group(1).replace("tokens.secret", secret.toString());
    }

    private static String token(String user) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.US_ASCII), "HmacSHA256"));
        String signed = encode("{\"alg\":\"HS256\"}".getBytes(StandardCharsets.US_ASCII)) + "."
                + encode(("{\"sub\":\"" + user + "\"}").getBytes(StandardCharsets.US_ASCII));
        return signed + "." + encode(mac.doFinal(signed.getBytes(StandardCharsets.US_ASCII)));
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    @Test
    void theChainOfTheDocumentDecides() throws IOException {
        PropertySource<?> properties = new YamlPropertySourceLoader()
                .load("test", new ByteArrayResource(example().getBytes(StandardCharsets.UTF_8)))
                .get(0);
        Contexts.runner()
                .withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst((EnumerablePropertySource<?>)
                                properties))
                .withPropertyValues("username=the operating system's")
                .run(context -> {
                    assertThat(connect(context, "ann", token("ann"))).isEqualTo(ReasonCode.SUCCESS);
                    assertThat(connect(context, "bob", token("ann"))).isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
                    assertThat(connect(context, "ann", token("ann") + "x")).isNotEqualTo(ReasonCode.SUCCESS);
                });
    }

    private static ReasonCode connect(ApplicationContext context, String user, String password) {
        try (RawClient client = Contexts.client(context)) {
            return client.send(ConnectBytes.of("c1").userName(user).password(password))
                    .expect(MqttMessageType.CONNACK)
                    .reason();
        }
    }

    @Test
    void placeholdersOfBackendsAreLeftToThemAndOthersAreResolved() {
        Map<String, Object> properties = new HashMap<>(Map.of(
                "smqtt.access.backends.web.type", "http",
                "smqtt.access.backends.web.url", "http://${host}/${username}/${client_attrs.site}",
                "smqtt.access.backends.web.acl.url", "http://${host}/\\${topic}",
                "smqtt.access.backends.web.user-prefix", "${prefix:web}-",
                "smqtt.access.chain", "web",
                "host", "users.example",
                "username", "root",
                "topic", "wrong"));
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
        environment.getPropertySources().addFirst(new MapPropertySource("test", properties));

        BrokerConfig config = SmqttProperties.of(environment, bound -> bound).broker();

        Map<String, ConfigValue> settings =
                config.access().backends().get("web").settings();
        assertThat(settings.get("url").text()).isEqualTo("http://users.example/${username}/${client_attrs.site}");
        assertThat(settings.get("acl.url").text()).isEqualTo("http://users.example/${topic}");
        assertThat(config.access().backends().get("web").userPrefix()).isEqualTo("web-");
    }
}
