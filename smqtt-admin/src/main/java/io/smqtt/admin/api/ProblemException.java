// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import java.io.Serial;

/** A request ends with a problem. Has no stack trace. */
public final class ProblemException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    /**
     * Creates the exception.
     *
     * @param problem becomes the answer
     */
    public ProblemException(Problem problem) {
        super(problem.message(), null, false, false);
        this.problem = problem;
    }

    /**
     * Returns the problem.
     *
     * @return what becomes the answer
     */
    public Problem problem() {
        return problem;
    }
}
