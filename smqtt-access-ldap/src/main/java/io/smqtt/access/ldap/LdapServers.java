// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import com.unboundid.ldap.sdk.AggregateLDAPConnectionPoolHealthCheck;
import com.unboundid.ldap.sdk.BindRequest;
import com.unboundid.ldap.sdk.FailoverServerSet;
import com.unboundid.ldap.sdk.GetEntryLDAPConnectionPoolHealthCheck;
import com.unboundid.ldap.sdk.LDAPConnectionOptions;
import com.unboundid.ldap.sdk.LDAPConnectionPool;
import com.unboundid.ldap.sdk.LDAPConnectionPoolHealthCheck;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.PostConnectProcessor;
import com.unboundid.ldap.sdk.ServerSet;
import com.unboundid.ldap.sdk.StartTLSPostConnectProcessor;
import com.unboundid.util.ssl.HostNameSSLSocketVerifier;
import io.smqtt.access.backend.Authorities;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** The servers of a directory, tried in order, and how they are connected to. Opens pools of connections, and no connection by itself. */
final class LdapServers {

    private static final String KEY = "url";
    private static final int LDAP_PORT = 389;
    private static final int LDAPS_PORT = 636;
    private static final int MAXIMUM_MESSAGE_BYTES = 1 << 20;
    private static final long MAXIMUM_AGE_MILLIS = 600_000;

    private final String name;
    private final int connections;
    private final int timeoutMillis;
    private final ServerSet servers;
    private final @Nullable SSLContext startTls;

    private LdapServers(
            String name, int connections, int timeoutMillis, ServerSet servers, @Nullable SSLContext startTls) {
        this.name = name;
        this.connections = connections;
        this.timeoutMillis = timeoutMillis;
        this.servers = servers;
        this.startTls = startTls;
    }

    /**
     * Reads the addresses and the certificates.
     *
     * @param settings {@code url}, {@code start-tls} and {@code ca}
     * @param context the name, the timeout, and the number of connections of each pool
     * @throws io.smqtt.config.ConfigurationException if an address or a certificate cannot be read
     */
    static LdapServers of(BackendSettings settings, BackendContext context) {
        List<URI> urls = new ArrayList<>();
        for (String text : settings.list(KEY)) {
            urls.add(url(settings, text));
        }
        boolean tls = urls.get(0).getScheme().equals("ldaps");
        if (urls.stream().anyMatch(url -> url.getScheme().equals("ldaps") != tls)) {
            throw settings.problem(KEY, "must have only ldap:// or only ldaps://");
        }
        boolean startTls = settings.flag("start-tls");
        if (startTls && tls) {
            throw settings.problem("start-tls", "is for ldap://; ldaps:// has TLS from the beginning");
        }
        if (!startTls && !tls && settings.has("ca")) {
            throw settings.problem("ca", "needs ldaps:// or start-tls");
        }
        int timeoutMillis = Math.toIntExact(context.config().timeout().toMillis());
        SSLContext certificates = startTls || tls ? certificates(settings) : null;
        SocketFactory sockets =
                tls && certificates != null ? certificates.getSocketFactory() : SocketFactory.getDefault();
        ServerSet servers = new FailoverServerSet(
                urls.stream().map(URI::getHost).map(LdapServers::unbracketed).toArray(String[]::new),
                urls.stream().mapToInt(url -> port(url, tls)).toArray(),
                sockets,
                options(timeoutMillis));
        return new LdapServers(
                "smqtt-access-" + context.name(),
                context.config().maxConcurrent(),
                timeoutMillis,
                servers,
                startTls ? certificates : null);
    }

    private static SSLContext certificates(BackendSettings settings) {
        TrustManagerFactory authorities = Authorities.of(settings, "ca");
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, authorities == null ? null : authorities.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static URI url(BackendSettings settings, String text) {
        try {
            URI url = new URI(text.strip());
            boolean known = "ldap".equals(url.getScheme()) || "ldaps".equals(url.getScheme());
            boolean bare = url.getUserInfo() == null
                    && (url.getPath() == null || url.getPath().length() <= 1);
            if (known && bare && url.getHost() != null && url.getQuery() == null) {
                return url;
            }
        } catch (URISyntaxException e) {
            // as for another wrong URL
        }
        throw settings.problem(KEY, "must be ldap://HOST:PORT or ldaps://HOST:PORT, or several of them");
    }

    private static String unbracketed(String host) {
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private static int port(URI url, boolean tls) {
        return url.getPort() >= 0 ? url.getPort() : tls ? LDAPS_PORT : LDAP_PORT;
    }

    private static LDAPConnectionOptions options(int timeoutMillis) {
        LDAPConnectionOptions options = new LDAPConnectionOptions();
        options.setUseSynchronousMode(true); // a thread waits for its own answer; no reader for each connection
        options.setConnectTimeoutMillis(timeoutMillis);
        options.setResponseTimeoutMillis(timeoutMillis);
        options.setFollowReferrals(false);
        options.setBindWithDNRequiresPassword(true);
        options.setMaxMessageSize(MAXIMUM_MESSAGE_BYTES);
        options.setSSLSocketVerifier(new HostNameSSLSocketVerifier(true));
        return options;
    }

    /**
     * Opens a pool, which connects when it is used. It has as many connections as threads use it. Connections that the server has closed
     * are replaced, and the request is made again once.
     *
     * @param bind the account of the connections, or null for anonymous ones
     * @return the pool
     */
    LDAPConnectionPool open(@Nullable BindRequest bind) {
        PostConnectProcessor startsTls = startTls == null ? null : new StartTLSPostConnectProcessor(startTls);
        try {
            LDAPConnectionPool pool = new LDAPConnectionPool(servers, bind, 0, connections, startsTls, false);
            pool.setConnectionPoolName(name);
            pool.setCreateIfNecessary(true);
            pool.setRetryFailedOperationsDueToInvalidConnections(true);
            pool.setMaxConnectionAgeMillis(MAXIMUM_AGE_MILLIS);
            if (bind != null) {
                // the first one drops connections that have ended, the other asks idle ones for the root entry each
                // minute
                pool.setHealthCheck(new AggregateLDAPConnectionPoolHealthCheck(
                        new LDAPConnectionPoolHealthCheck(),
                        new GetEntryLDAPConnectionPoolHealthCheck(
                                "", timeoutMillis, false, false, false, true, false)));
            }
            return pool;
        } catch (LDAPException e) {
            throw LdapFailedException.of(e);
        }
    }
}
