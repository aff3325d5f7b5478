// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import com.unboundid.ldap.listener.InMemoryDirectoryServer;
import com.unboundid.ldap.listener.InMemoryDirectoryServerConfig;
import com.unboundid.ldap.listener.InMemoryListenerConfig;
import com.unboundid.ldap.listener.interceptor.InMemoryInterceptedSearchRequest;
import com.unboundid.ldap.listener.interceptor.InMemoryInterceptedSimpleBindRequest;
import com.unboundid.ldap.listener.interceptor.InMemoryOperationInterceptor;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldif.LDIFException;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Ticker;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A directory in memory that listens on a free loopback port, and notes to whom clients bind. */
final class TestDirectory implements AutoCloseable {

    static final String BASE = "uid=${username},ou=devices,dc=example,dc=org";

    private final InMemoryDirectoryServer server;
    private final List<String> binds = Collections.synchronizedList(new ArrayList<>());
    private volatile @Nullable LDAPException searchFailure;

    TestDirectory() throws LDAPException {
        InMemoryDirectoryServerConfig config = new InMemoryDirectoryServerConfig("dc=example,dc=org");
        config.setSchema(null);
        config.addAdditionalBindCredentials("cn=smqtt", "searcher");
        config.setListenerConfigs(
                InMemoryListenerConfig.createLDAPConfig("ldap", InetAddress.getLoopbackAddress(), 0, null));
        config.addInMemoryOperationInterceptor(new Notes());
        server = new InMemoryDirectoryServer(config);
        server.startListening();
        add("dc=example,dc=org", "objectClass: domain", "dc: example");
        add("ou=devices,dc=example,dc=org", "objectClass: organizationalUnit", "ou: devices");
    }

    private final class Notes extends InMemoryOperationInterceptor {

        @Override
        public void processSimpleBindRequest(InMemoryInterceptedSimpleBindRequest request) {
            binds.add(request.getRequest().getBindDN());
        }

        @Override
        public void processSearchRequest(InMemoryInterceptedSearchRequest request) throws LDAPException {
            LDAPException failure = searchFailure;
            if (failure != null) {
                throw failure;
            }
        }
    }

    void add(String name, String... attributes) {
        List<String> lines = new ArrayList<>(List.of("dn: " + name));
        lines.addAll(List.of(attributes));
        try {
            server.add(lines.toArray(String[]::new));
        } catch (LDIFException | LDAPException e) {
            throw new AssertionError(e);
        }
    }

    void addUser(String uid, String... attributes) {
        List<String> lines = new ArrayList<>(List.of("objectClass: mqttUser", "uid: " + uid));
        lines.addAll(List.of(attributes));
        add("uid=" + uid + ",ou=devices,dc=example,dc=org", lines.toArray(String[]::new));
    }

    void failSearches(ResultCode code, String... referrals) {
        searchFailure = new LDAPException(code, "as the test wants", "", referrals);
    }

    /** The names to which clients have tried to bind, in order. */
    List<String> binds() {
        return List.copyOf(binds);
    }

    String url() {
        return "ldap://127.0.0.1:" + server.getListenPort();
    }

    void stop() {
        server.shutDown(true);
    }

    void startAgain() throws LDAPException {
        server.restartServer();
    }

    @Override
    public void close() {
        server.shutDown(true);
    }

    /** A backend of this directory with {@link #BASE} and a short timeout. */
    AccessBackend open(String... keysAndValues) {
        List<String> all = new ArrayList<>(List.of("url", url(), "base-dn", BASE));
        all.addAll(List.of(keysAndValues));
        return backend(all.toArray(String[]::new));
    }

    static AccessBackend backend(String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(
                    keysAndValues[i],
                    new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), Path.of("/etc")));
        }
        LdapBackendFactory factory = new LdapBackendFactory();
        return factory.open(
                BackendSettings.of("directory", factory.settings(), values),
                new BackendContext(
                        "directory",
                        AccessBackendConfig.builder("ldap")
                                .timeout(Duration.ofSeconds(5))
                                .build(),
                        Ticker.SYSTEM));
    }

    static BackendRequest request(@Nullable String user, @Nullable String password) {
        return new BackendRequest(
                "c1",
                user,
                password == null ? null : password.getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("192.0.2.7", 4711),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                Map.of());
    }
}
