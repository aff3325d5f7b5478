// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiCall;
import io.smqtt.admin.page.PageFile;
import io.smqtt.admin.page.PageFiles;
import io.smqtt.admin.page.PageHeaders;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.thread.AnyThread;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Serves the dashboard at {@code /dashboard/} below a base. Its files hold nothing secret, so they need no login. */
@AnyThread
final class PageServer {

    private static final String FOLDER = "dashboard/";

    private final PageFiles files = new PageFiles();
    private final String base;
    private final String prefix;
    private final BrokerConfig config;
    private final BrokerView view;

    /**
     * Creates it.
     *
     * @param base the path above that of the page, without a slash at its end; empty for the root
     */
    PageServer(String base, BrokerConfig config, BrokerView view) {
        this.base = base;
        this.prefix = base + "/" + FOLDER;
        this.config = config;
        this.view = view;
    }

    /** Tells whether a path, not decoded, is one of the page. */
    boolean serves(String path) {
        return path.startsWith(prefix)
                || path.equals(base)
                || path.equals(base + "/")
                || path.length() == prefix.length() - 1 && prefix.startsWith(path);
    }

    /** Answers a request for such a path. */
    ApiAnswer answer(ApiCall call) {
        if (!call.method().equals("GET") && !call.method().equals("HEAD")) {
            return empty(405).with("Allow", "GET, HEAD");
        }
        if (!call.path().startsWith(prefix)) {
            return empty(302).with("Location", location(call.path()));
        }
        PageFile file = files.find(call.path().substring(prefix.length()));
        return file == null ? empty(404) : content(call, file);
    }

    /** Relative, because the server may be known under further paths. */
    private String location(String path) {
        return path.equals(base) ? base.substring(base.lastIndexOf('/') + 1) + "/" + FOLDER : FOLDER;
    }

    private static ApiAnswer empty(int status) {
        return ApiAnswer.content(status, "", new byte[0]);
    }

    private ApiAnswer content(ApiCall call, PageFile file) {
        Map<String, String> headers = new LinkedHashMap<>(PageHeaders.of(webSocketPorts()));
        headers.put("ETag", file.etag());
        headers.put("Cache-Control", file.cacheControl());
        headers.put("Vary", "Accept-Encoding");
        if (file.etag().equals(call.header("If-None-Match"))) {
            return new ApiAnswer.Content(304, headers, "", new byte[0], "");
        }
        boolean gzip = acceptsGzip(call.header("Accept-Encoding"));
        if (gzip) {
            headers.put("Content-Encoding", "gzip");
        }
        return new ApiAnswer.Content(200, headers, file.contentType(), gzip ? file.compressed() : file.content(), "");
    }

    private static boolean acceptsGzip(@Nullable String encodings) {
        return encodings != null && encodings.contains("gzip") && !encodings.contains("gzip;q=0");
    }

    /** The ports that are bound now. */
    private Set<Integer> webSocketPorts() {
        Set<Integer> ports = new TreeSet<>();
        if (view.isRunning()) {
            Map<String, InetSocketAddress> bound = view.broker().listeners();
            config.listeners().forEach((name, listener) -> {
                InetSocketAddress address = bound.get(name);
                if (address != null && listener.type() == ListenerConfig.Type.WS) {
                    ports.add(address.getPort());
                }
            });
        }
        return ports;
    }
}
