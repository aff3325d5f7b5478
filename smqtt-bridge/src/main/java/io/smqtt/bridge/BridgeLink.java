// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.ClientLink;
import io.smqtt.connection.ReadPlan;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.Grants;
import io.smqtt.thread.OnEventLoop;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The connection of a bridge as our own broker sees it: a client with the rights of a user, or one that may do everything that clients may. */
@OnEventLoop
final class BridgeLink implements ClientLink {

    private static final ListenerConfig CONFIG = ListenerConfig.of(ListenerConfig.Type.TCP);
    private static final Authentication.Accepted TRUSTED =
            new Authentication.Accepted(null, Set.of(), Grants.NONE.withSuperuser());

    private final String name;
    private final InetSocketAddress remote;
    private final Authentication.Accepted accepted;

    BridgeLink(String name, InetSocketAddress remote, String localUser) {
        this.name = name;
        this.remote = remote;
        this.accepted = accepted(localUser);
    }

    /** The authentication of a bridge: the rights of a user, or all rights of clients without one. */
    static Authentication.Accepted accepted(String localUser) {
        return localUser.isEmpty() ? TRUSTED : new Authentication.Accepted(localUser, Set.of());
    }

    @Override
    public String listener() {
        return "bridge-" + name;
    }

    @Override
    public ListenerConfig config() {
        return CONFIG;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public boolean local() {
        return false;
    }

    @Override
    public boolean webSocket() {
        return false;
    }

    @Override
    public boolean tls() {
        return false;
    }

    @Override
    public @Nullable X509Certificate clientCertificate() {
        return null;
    }

    @Override
    public void onConnectTimeout(Runnable action) {}

    @Override
    public void connectComplete() {}

    @Override
    public void plan(ReadPlan plan) {}

    @Override
    public void connected() {}

    @Override
    public Authentication.Accepted vouched() {
        return accepted;
    }
}
