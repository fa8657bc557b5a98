"""The necessary floating-point work, counted per row.

Only products of matrices count, one multiplication and one addition as two operations. With d
inputs, S sigmoid neurons and L = d + S hidden outputs a row takes

- hidden layer: 2·d·S = 58,800. Linear neurons pass the inputs through, that is no work.
- a symmetric product such as HᵀH: L² = 120,409. One triangle of L²/2 numbers, two operations each.
- leverage h P hᵀ = ‖h R‖² with a triangular factor R of P: L² as well, and so is a variance h Σ hᵀ.

A point fit needs the hidden layer and HᵀH: 179,209. The exact interval fit, without keeping H,
goes over the rows three times, and at equal γ on one shared layer leverage is the same for both
models and needed once:

=====  =============================================  =======
pass   work                                           per row
=====  =============================================  =======
1      hidden layer, HᵀH                              179,209
2      hidden layer, leverage, Σ w hᵀh of the mean    299,618
3      hidden layer, Σ w hᵀh of the noise model       179,209
all                                                   658,036
=====  =============================================  =======

which is 3.7 point fits. A noise model with a layer of its own needs that layer in passes 2 and 3
in place of the shared one in pass 3, its own HᵀH and its own leverage: 957,654.

A prediction needs the hidden layer; an interval also h (Σ_y + Σ_r) hᵀ by one triangular factor,
3.0 predictions. Left out everywhere: what grows with L alone (Hᵀy, Hβ, the activation, scaling:
about 2 % of the fit) and what does not grow with rows (factorisations). The choice of γ counts as
no work either, since a given γ needs none.
"""

FEATURES = 147
SIGMOIDS = 200
NEURONS = FEATURES + SIGMOIDS

HIDDEN = 2 * FEATURES * SIGMOIDS
SQUARE = NEURONS**2

POINT_FIT = HIDDEN + SQUARE
INTERVAL_FIT = 3 * HIDDEN + 4 * SQUARE
OWN_LAYERS_FIT = 4 * HIDDEN + 6 * SQUARE
